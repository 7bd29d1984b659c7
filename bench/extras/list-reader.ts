import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AnswerReader } from '../load/answer-reader.ts';
import { TOKEN } from '../services/credentials.ts';

/** What a reader of `GET /books` saw. */
export interface ListRead {
  /** Milliseconds from the request to the first byte of the answer. */
  readonly firstByteMs: number;
  /** Milliseconds from the request to the end of the answer. */
  readonly totalMs: number;
  readonly bytes: number;
}

/** A client that asks for the list on a connection of its own. Disposing leaves. */
export class ListReader implements Disposable {
  readonly #socket: Socket;
  readonly #startedAt = performance.now();
  readonly #first = Promise.withResolvers<number>();
  readonly #end = Promise.withResolvers<ListRead>();
  #bytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const answers = new AnswerReader(() => void this.#finish());
    const fail = () => {
      const failure = new Error('the list was cut off');
      this.#first.reject(failure);
      this.#end.reject(failure);
    };
    for (const { promise } of [this.#first, this.#end]) promise.catch(() => {});
    socket.on('error', fail).on('close', fail);
    socket.on('data', (bytes: Buffer) => {
      if (this.#bytes === 0) this.#first.resolve(performance.now() - this.#startedAt);
      this.#bytes += bytes.length;
      answers.read(bytes);
    });
  }

  /** Connects, then sends the request. */
  static async open(url: string): Promise<ListReader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    const reader = new ListReader(socket);
    socket.write(`GET /books HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${TOKEN}\r\n\r\n`);
    return reader;
  }

  /** Resolves when the answer has begun. @throws Error when the connection fails before */
  async begins(): Promise<void> {
    await this.#first.promise;
  }

  /** Resolves when the whole answer is there. @throws Error when the connection fails before */
  ends(): Promise<ListRead> {
    return this.#end.promise;
  }

  /** Stops reading. */
  stall(): void {
    this.#socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#socket.resume();
  }

  /** Closes the connection. */
  leave(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  async #finish(): Promise<void> {
    const totalMs = performance.now() - this.#startedAt;
    this.#end.resolve({ firstByteMs: await this.#first.promise, totalMs, bytes: this.#bytes });
  }
}
