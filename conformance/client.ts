import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { urlToHttpOptions } from 'node:url';

/** An answer as it came over the wire. */
export interface Answer {
  /** The request it answers, for messages: method, path, what is odd about it, and the body. */
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  /** The content, untouched. */
  readonly body: string;
}

/** A part of a request's body: text is sent as UTF-8. */
export type Piece = string | Uint8Array;

/** What a request carries besides its method and path. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent at once; several pieces are sent one after another with pauses, chunked unless a length is announced. */
  readonly body?: Piece | readonly Piece[];
  /** Said of the request in messages, where method, path and body do not tell. */
  readonly note?: string | undefined;
  /** Leaves the request unfinished, however long the answer takes. */
  readonly unfinished?: boolean;
}

/** No answer came: the connection was refused, broke, or stayed silent. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** The request, raw: who prints it hides what is confidential. */
  readonly request: string;
  /** Why, in a few words. */
  readonly reason: string;

  constructor(request: string, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.request = request;
    this.reason = reason;
  }
}

/** Speaks HTTP with one address, a new connection for each request. Nothing waits longer than the time limit. */
export class Client implements Disposable {
  readonly #address: ReturnType<typeof urlToHttpOptions>;
  readonly #isSecure: boolean;
  readonly #agent: http.Agent;
  readonly #timeoutMs: number;

  constructor(origin: URL, timeoutMs: number) {
    this.#address = urlToHttpOptions(origin);
    this.#isSecure = origin.protocol === 'https:';
    // Asks for the connection to be kept, as clients do, and yet never meets the leftovers of an earlier request.
    const connections = { keepAlive: true, maxFreeSockets: 0 };
    this.#agent = this.#isSecure ? new https.Agent(connections) : new http.Agent(connections);
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sends a well-formed request. With `Expect: 100-continue` the body waits for the 100.
   *
   * @throws {NoAnswer}
   */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { body = [], unfinished = false } = options;
    const pieces = isPiece(body) ? [body] : body;
    const length = isPiece(body) ? { 'Content-Length': String(Buffer.byteLength(body)) } : {};
    const headers = { ...length, ...options.headers };
    const description = describe(`${method} ${path}`, pieces, options);
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const { hostname, port } = this.#address;
    const module = this.#isSecure ? https : http;
    const request = module.request({
      hostname,
      port,
      method,
      path,
      headers,
      agent: this.#agent,
      signal: limit,
    });

    const answered = new Promise<Answer>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        text(response)
          .then((content) => resolve(toAnswer(description, response, content)))
          .catch(reject);
      });
    });
    const continued = new Promise<void>((resolve) => request.on('continue', resolve));
    const sent = sendBody(request, pieces, 'Expect' in headers ? continued : undefined, unfinished);
    try {
      // An answer may come before everything is sent; the rest is of no use then.
      return await Promise.race([answered, sent.then(() => answered)]);
    } catch (error) {
      throw new NoAnswer(description, this.#reason(error, limit), { cause: error });
    } finally {
      request.destroy();
    }
  }

  /**
   * Sends bytes as they are, reads only when all are sent, and until the other side closes: it is up to the bytes
   * to make it close.
   *
   * @param lines the lines of the head, without their ends
   * @param body pieces are sent one after another with pauses
   * @throws {NoAnswer}
   */
  async exchange(lines: readonly string[], body: readonly Piece[] = []): Promise<Answer> {
    const description = describe(lines[0] ?? '', body);
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const { hostname, port } = this.#address;
    const to = { host: hostname ?? 'localhost', port: Number(port || (this.#isSecure ? 443 : 80)) };
    const socket = this.#isSecure ? tls.connect(to) : net.connect(to);
    limit.addEventListener('abort', () => socket.destroy(limit.reason as Error));
    const received: Buffer[] = [];
    socket.pause().on('data', (bytes: Buffer) => received.push(bytes));
    const closed = new Promise<void>((resolve, reject) => {
      socket.on('error', reject).on('close', () => resolve());
    });
    const sent = sendPieces(socket, [`${lines.join('\r\n')}\r\n\r\n`, ...body]).then(() => socket.resume());
    try {
      await Promise.race([closed, sent.then(() => closed)]);
    } catch (error) {
      // A reset after the answer is no concern of the reader.
      if (limit.aborted || received.length === 0) {
        throw new NoAnswer(description, this.#reason(error, limit), { cause: error });
      }
    } finally {
      socket.destroy();
    }
    return parseAnswer(description, Buffer.concat(received));
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #reason(error: unknown, limit: AbortSignal): string {
    if (limit.aborted) return `no answer within ${this.#timeoutMs / 1000} s`;
    if (error instanceof Error && 'code' in error) return `the connection failed (${String(error.code)})`;
    return 'the connection failed';
  }
}

function isPiece(body: Piece | readonly Piece[]): body is Piece {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function bytesOf(piece: Piece): Uint8Array {
  return typeof piece === 'string' ? Buffer.from(piece) : piece;
}

function describe(
  head: string,
  pieces: readonly Piece[],
  { headers = {}, note }: RequestOptions = {},
): string {
  const odd = Object.entries(headers)
    .filter(([name, value]) => name !== 'Authorization' && value !== 'application/json')
    .map(([name, value]) => `${name}: ${value}`);
  const remarks = note === undefined ? odd : [note, ...odd];
  const start = remarks.length === 0 ? head : `${head} (${remarks.join(', ')})`;
  return `${start} ${Buffer.concat(pieces.map(bytesOf)).toString()}`.trimEnd();
}

async function sendBody(
  request: http.ClientRequest,
  pieces: readonly Piece[],
  permission: Promise<void> | undefined,
  unfinished: boolean,
): Promise<void> {
  request.flushHeaders();
  await permission;
  await sendPieces(request, pieces);
  if (!unfinished) request.end();
}

const PAUSE_BETWEEN_PIECES_MS = 20;

/** Resolves when all pieces are with the operating system; never when the connection breaks before. */
async function sendPieces(stream: Writable, pieces: readonly Piece[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(PAUSE_BETWEEN_PIECES_MS);
    await new Promise<void>((resolve) => {
      stream.write(piece, (error) => {
        if (!error) resolve();
      });
    });
  }
}

function toAnswer(request: string, response: http.IncomingMessage, body: string): Answer {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { request, status: response.statusCode ?? 0, headers, body };
}

/** Reads the first final answer in the bytes (RFC 9112); whatever follows its head is its body. */
function parseAnswer(request: string, bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) {
    throw new NoAnswer(request, `the connection closed after ${bytes.length} bytes that are no answer`);
  }
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parseAnswer(request, rest);

  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  return { request, status, headers, body: (isChunked ? joinChunks(rest) : rest).toString() };
}

function joinChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
