/** Splits the bytes of a connection into responses (RFC 9112, section 6), each with Content-Length or chunked. */
export class ResponseReader {
  readonly #onResponse: (status: number) => void;
  #buffer: Buffer = Buffer.alloc(0);
  #status = 0;
  #state: 'head' | 'body' | 'chunk size' | 'chunk' = 'head';
  /** Of the current body or chunk. */
  #bytesLeft = 0;

  /** @param onResponse called at the end of every response with its status */
  constructor(onResponse: (status: number) => void) {
    this.#onResponse = onResponse;
  }

  read(bytes: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
    while (this.#buffer.length > 0 && this.#step());
    // The caller may reuse the memory of `bytes`.
    if (this.#buffer.length > 0) this.#buffer = Buffer.from(this.#buffer);
  }

  /** @returns false when it needs more bytes */
  #step(): boolean {
    if (this.#state === 'head') return this.#readHead();
    if (this.#state === 'chunk size') return this.#readChunkSize();
    const bytes = Math.min(this.#bytesLeft, this.#buffer.length);
    this.#buffer = this.#buffer.subarray(bytes);
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft > 0) return false;
    if (this.#state === 'chunk') this.#state = 'chunk size';
    else this.#finish();
    return true;
  }

  #readHead(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = this.#buffer.toString('latin1', 0, end);
    this.#buffer = this.#buffer.subarray(end + 4);
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1];
    this.#bytesLeft = Number(length ?? 0);
    this.#state = length === undefined ? 'chunk size' : 'body';
    if (length === '0') this.#finish();
    return true;
  }

  /** The last chunk is empty and followed by an empty line, without trailers. */
  #readChunkSize(): boolean {
    const end = this.#buffer.indexOf('\r\n');
    if (end === -1) return false;
    const size = Number.parseInt(this.#buffer.toString('latin1', 0, end), 16);
    this.#buffer = this.#buffer.subarray(end + 2);
    this.#bytesLeft = size + 2;
    this.#state = size === 0 ? 'body' : 'chunk';
    return true;
  }

  #finish(): void {
    this.#state = 'head';
    this.#onResponse(this.#status);
  }
}
