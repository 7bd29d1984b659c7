/**
 * Finds where answers end in what arrives on a connection (RFC 9112, section 6): by their length, or chunk by chunk.
 * Every answer has to have one of them.
 */
export class AnswerReader {
  readonly #onAnswer: (status: number) => void;
  #rest: Buffer = Buffer.alloc(0);
  #status = 0;
  #expects: 'head' | 'body' | 'chunk size' | 'chunk' = 'head';
  /** How many bytes of a body or chunk are still to come. */
  #bytesLeft = 0;

  /** @param onAnswer called at the end of every answer with its status */
  constructor(onAnswer: (status: number) => void) {
    this.#onAnswer = onAnswer;
  }

  read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length > 0 && this.#step());
  }

  /** @returns whether there was enough for a step */
  #step(): boolean {
    if (this.#expects === 'head') return this.#readHead();
    if (this.#expects === 'chunk size') return this.#readChunkSize();
    const bytes = Math.min(this.#bytesLeft, this.#rest.length);
    this.#rest = this.#rest.subarray(bytes);
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft > 0) return false;
    if (this.#expects === 'chunk') this.#expects = 'chunk size';
    else this.#finish();
    return true;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = this.#rest.toString('latin1', 0, end);
    this.#rest = this.#rest.subarray(end + 4);
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1];
    this.#bytesLeft = Number(length ?? 0);
    this.#expects = length === undefined ? 'chunk size' : 'body';
    if (length === '0') this.#finish();
    return true;
  }

  /** The last chunk has no bytes and, as nobody sends trailers here, is followed by an empty line. */
  #readChunkSize(): boolean {
    const end = this.#rest.indexOf('\r\n');
    if (end === -1) return false;
    const size = Number.parseInt(this.#rest.toString('latin1', 0, end), 16);
    this.#rest = this.#rest.subarray(end + 2);
    this.#bytesLeft = size + 2;
    this.#expects = size === 0 ? 'body' : 'chunk';
    return true;
  }

  #finish(): void {
    this.#expects = 'head';
    this.#onAnswer(this.#status);
  }
}
