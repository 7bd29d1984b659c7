import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { assertNothingConfidential } from './confidential.ts';
import type { ReceivedResponse, SentRequest } from './described.ts';
import { SentRequests } from './sent-requests.ts';

/** A response as it was received. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Where a service listens on loopback. */
export interface Place {
  readonly port: number;
  /** The address of the client: an IPv4 address of this machine. */
  readonly localAddress?: string;
  /** Called for every final response, with its request if that is known. */
  readonly onResponse?: (request: SentRequest | undefined, response: ReceivedResponse) => Promise<void>;
}

/** Headers that are hashes, cursors and random ids, which may contain any text by chance. */
const LIKE_ANYTHING = /^(?:etag|link|x-request-id): .*$/gim;

/** Longer than any response takes on any machine. */
const SILENCE_MS_MAX = 120_000;

/** The connection ended before or within an expected response. */
export class Cut extends Error {
  override readonly name = 'Cut';
}

/** A client's connection that sends raw bytes, and reads one response at a time. */
export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  readonly #sent = new SentRequests();
  readonly #onResponse: Place['onResponse'];
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, onResponse: Place['onResponse']) {
    this.#socket = socket;
    this.#onResponse = onResponse;
    this.#chunks = socket.iterator({ destroyOnReturn: false });
    socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error('the service does not respond')));
    socket.on('error', () => {});
  }

  static async open({ port, localAddress, onResponse }: Place): Promise<Connection> {
    const host = localAddress === undefined ? 'localhost' : '127.0.0.1';
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ host, port, ...from, allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket, onResponse);
  }

  /** Sends bytes; resolves when the operating system has accepted them, or the connection has ended. */
  async send(bytes: string | Uint8Array): Promise<void> {
    this.#sent.add(bytes);
    await new Promise<void>((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  /** Whether the connection is known to be closed. */
  get isBroken(): boolean {
    return this.#socket.destroyed;
  }

  /** Half-closes the connection. */
  finish(): void {
    this.#socket.end();
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /**
   * Reads the next response, which may be an interim one. Asserts that its headers, and the content of errors, have
   * nothing confidential.
   *
   * @param isToHead whether the request was HEAD, so that there is no content
   * @throws {Cut}
   */
  async response(isToHead = false): Promise<RawResponse> {
    const head = await this.#takeThrough('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${statusLine}`);
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const hasContent = !isToHead && status >= 200 && status !== 204 && status !== 304;
    const body = hasContent ? await this.#content(headers) : '';
    const said = head.replaceAll(LIKE_ANYTHING, '');
    assertNothingConfidential(status >= 400 ? `${said} ${body}` : said);
    const answered = isToHead ? { status, headers } : { status, headers, body };
    if (status >= 200) await this.#onResponse?.(this.#sent.next(), answered);
    return { status, headers, body };
  }

  /** Resolves when the first bytes of the next response have been received. */
  async beginning(): Promise<void> {
    await this.#receiveAtLeast(1);
  }

  /** Reads until the service ends the connection. @returns the bytes received */
  async rest(): Promise<string> {
    while (await this.#receive());
    return this.#take(this.#received.length).toString();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #content(headers: Headers): Promise<string> {
    const length = headers.get('content-length');
    if (length !== null) {
      await this.#receiveAtLeast(Number(length));
      return this.#take(Number(length)).toString();
    }
    if (headers.get('transfer-encoding') !== 'chunked') return this.rest();
    const chunks: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt(await this.#takeThrough('\r\n'), 16);
      await this.#receiveAtLeast(size + 2);
      chunks.push(this.#take(size));
      this.#take(2);
      if (size === 0) return Buffer.concat(chunks).toString();
    }
  }

  /** Reads through a mark. @returns the text before it */
  async #takeThrough(mark: string): Promise<string> {
    for (;;) {
      const at = this.#received.indexOf(mark);
      if (at >= 0) return this.#take(at + mark.length).toString('latin1', 0, at);
      await this.#receiveAtLeast(this.#received.length + 1);
    }
  }

  async #receiveAtLeast(length: number): Promise<void> {
    while (this.#received.length < length) {
      if (!(await this.#receive()))
        throw new Cut(`the connection ended ${length - this.#received.length} bytes early`);
    }
  }

  #take(length: number): Buffer {
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  /** @returns whether data was received before the end; a reset is an end, a timeout is not */
  async #receive(): Promise<boolean> {
    try {
      const { value } = await this.#chunks.next();
      if (value === undefined) return false;
      this.#received = Buffer.concat([this.#received, value]);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error) return false;
      throw error;
    }
  }
}

/**
 * The bytes of a request.
 *
 * @param start method and target
 * @param lines header lines besides Host and, when there is a body, Content-Length
 */
export function request(start: string, lines: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return `${[`${start} HTTP/1.1`, 'Host: localhost', ...length, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
