import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AskedOnConnection } from '../openapi/asked.ts';
import type { Answered, Asked } from '../openapi/described.ts';
import { assertTellsNothing } from './telltales.ts';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Where a service listens on loopback. */
export interface Place {
  readonly port: number;
  /** Where the client comes from: an address of IPv4 that this machine has. */
  readonly localAddress?: string;
  /** Is told of every final answer, and of the request that it belongs to where that can be told. */
  readonly onAnswer?: (asked: Asked | undefined, answer: Answered) => Promise<void>;
}

/** Header fields that are hashes, cursors and random ids: now and then they look like anything. */
const LIKE_ANYTHING = /^(?:etag|link|x-request-id): .*$/gim;

/** Far longer than any answer takes, on any machine. */
const SILENCE_MS_MAX = 10_000;

/** The connection ended where an answer was due, or in the middle of one. */
export class Cut extends Error {
  override readonly name = 'Cut';
}

/** A connection of a client that sends bytes as they are, and reads only what it is told to. */
export class Connection implements Disposable {
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  readonly #asked = new AskedOnConnection();
  readonly #onAnswer: Place['onAnswer'];
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, onAnswer: Place['onAnswer']) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
    this.#chunks = socket.iterator({ destroyOnReturn: false });
    socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error('the service stays silent')));
    socket.on('error', () => {});
  }

  static async open({ port, localAddress, onAnswer }: Place): Promise<Connection> {
    const host = localAddress === undefined ? 'localhost' : '127.0.0.1';
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = connect({ host, port, ...from, allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket, onAnswer);
  }

  /** Sends bytes; resolves when the system has taken them, or the other side takes no more. */
  async send(bytes: string | Uint8Array): Promise<void> {
    this.#asked.note(bytes);
    await new Promise<void>((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  /** Whether the connection is known to be gone, so that sending is of no use. */
  get isBroken(): boolean {
    return this.#socket.destroyed;
  }

  /** Says that no more will be sent. */
  finish(): void {
    this.#socket.end();
  }

  /** Leaves without a farewell: the other side's next read or write is met by a reset. */
  vanish(): void {
    this.#socket.resetAndDestroy();
  }

  /**
   * Reads the next answer, which may be an interim one, and asserts that it tells nothing: what is no success in all
   * of it, and the others in their heads, as their content is that of clients.
   *
   * @param isToHead whether it answers HEAD, so that no content follows
   * @throws {Cut}
   */
  async answer(isToHead = false): Promise<Answer> {
    const head = await this.#takeThrough('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no status line: ${statusLine}`);
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const hasContent = !isToHead && status >= 200 && status !== 204 && status !== 304;
    const body = hasContent ? await this.#content(headers) : '';
    const said = head.replaceAll(LIKE_ANYTHING, '');
    assertTellsNothing(status >= 400 ? `${said} ${body}` : said);
    const answered = isToHead ? { status, headers } : { status, headers, body };
    if (status >= 200) await this.#onAnswer?.(this.#asked.next(), answered);
    return { status, headers, body };
  }

  /** Resolves when the next answer has begun to come, of which no more is read. */
  async beginning(): Promise<void> {
    await this.#receiveAtLeast(1);
  }

  /** Reads until the other side closes. @returns what came */
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

  /** @returns what stands before the mark, which is taken, too */
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
        throw new Cut(`the connection ends, and ${length - this.#received.length} bytes are due`);
    }
  }

  #take(length: number): Buffer {
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  /** @returns whether something came before the end; a reset is an end, a silence is not */
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
