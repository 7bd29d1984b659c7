import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ResponseReader } from '../load/response-reader.ts';
import { TOKEN } from '../services/credentials.ts';

interface ListRead {
  /** Milliseconds from the request to the first byte of the response. */
  readonly firstByteMs: number;
  /** Milliseconds from the request to the end of the response. */
  readonly totalMs: number;
  readonly bytes: number;
}

/** A client that reads `GET /books` on a new connection. Disposing closes it. */
export class ListReader implements Disposable {
  readonly #socket: Socket;
  readonly #startedAt = performance.now();
  readonly #firstByte = Promise.withResolvers<number>();
  readonly #end = Promise.withResolvers<ListRead>();
  #bytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const responses = new ResponseReader(() => void this.#finish());
    const fail = () => {
      const failure = new Error('the list was truncated');
      this.#firstByte.reject(failure);
      this.#end.reject(failure);
    };
    for (const { promise } of [this.#firstByte, this.#end]) promise.catch(() => {});
    socket.on('error', fail).on('close', fail);
    socket.on('data', (bytes: Buffer) => {
      if (this.#bytes === 0) this.#firstByte.resolve(performance.now() - this.#startedAt);
      this.#bytes += bytes.length;
      responses.read(bytes);
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

  /** Resolves at the first byte. @throws Error when the connection fails before */
  async firstByte(): Promise<void> {
    await this.#firstByte.promise;
  }

  /** Resolves at the end of the response. @throws Error when the connection fails before */
  complete(): Promise<ListRead> {
    return this.#end.promise;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #finish(): Promise<void> {
    const totalMs = performance.now() - this.#startedAt;
    this.#end.resolve({ firstByteMs: await this.#firstByte.promise, totalMs, bytes: this.#bytes });
  }
}
