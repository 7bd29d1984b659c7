import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { urlToHttpOptions } from 'node:url';

/** A response as it was received. */
export interface HttpResponse {
  /** The request, for messages: method, path, unusual headers and the body. */
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  /** The content, unparsed. */
  readonly body: string;
}

/** A part of a request body; text is sent as UTF-8. */
export type Piece = string | Uint8Array;

/** A request without its method and path. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Several pieces are sent with pauses between them, chunked unless there is a Content-Length. */
  readonly body?: Piece | readonly Piece[];
  /** Describes the request in messages, in addition to method, path and body. */
  readonly note?: string | undefined;
  /** Does not finish the request. */
  readonly unfinished?: boolean;
}

/** No response: the connection was refused, lost, or timed out. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  /** The request, unredacted. */
  readonly request: string;
  /** The reason, in a few words. */
  readonly reason: string;

  constructor(request: string, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.request = request;
    this.reason = reason;
  }
}

/** An HTTP client of one address, with a new connection for each request and a time limit. */
export class Client implements Disposable {
  readonly #address: ReturnType<typeof urlToHttpOptions>;
  readonly #isSecure: boolean;
  readonly #agent: http.Agent;
  readonly #timeoutMs: number;

  constructor(origin: URL, timeoutMs: number) {
    this.#address = urlToHttpOptions(origin);
    this.#isSecure = origin.protocol === 'https:';
    // Requests keep-alive, as clients do, but never reuses a connection, which might have bytes of an earlier response.
    const connections = { keepAlive: true, maxFreeSockets: 0 };
    this.#agent = this.#isSecure ? new https.Agent(connections) : new http.Agent(connections);
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sends a well-formed request. With `Expect: 100-continue` the body waits for the 100.
   *
   * @throws {NoResponse}
   */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
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

    const answered = new Promise<HttpResponse>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (message) => {
        read(message)
          .then((content) => resolve(toResponse(description, message, content)))
          .catch(reject);
      });
    });
    const continued = new Promise<void>((resolve) => request.on('continue', resolve));
    const sent = sendBody(request, pieces, 'Expect' in headers ? continued : undefined, unfinished);
    try {
      // A response may arrive before everything is sent.
      return await Promise.race([answered, sent.then(() => answered)]);
    } catch (error) {
      throw new NoResponse(description, this.#reason(error, limit), { cause: error });
    } finally {
      request.destroy();
    }
  }

  /**
   * Sends these bytes, then reads until the service closes the connection: the request has to make it do so.
   *
   * @param lines the lines of the head, without line ends
   * @param body pieces, sent with pauses between them
   * @throws {NoResponse}
   */
  async exchange(
    lines: readonly string[],
    body: readonly Piece[] = [],
    pauseMs = PAUSE_BETWEEN_PIECES_MS,
  ): Promise<HttpResponse> {
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
    const pieces = [`${lines.join('\r\n')}\r\n\r\n`, ...body];
    const sent = sendPieces(socket, pieces, pauseMs).then(() => socket.resume());
    try {
      await Promise.race([closed, sent.then(() => closed)]);
    } catch (error) {
      // A reset after the response does not matter.
      if (limit.aborted || received.length === 0) {
        throw new NoResponse(description, this.#reason(error, limit), { cause: error });
      }
    } finally {
      socket.destroy();
    }
    return parseResponse(description, Buffer.concat(received));
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #reason(error: unknown, limit: AbortSignal): string {
    if (limit.aborted) return `no response within ${this.#timeoutMs / 1000} s`;
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
  const unusual = Object.entries(headers)
    .filter(([name, value]) => name !== 'Authorization' && value !== 'application/json')
    .map(([name, value]) => `${name}: ${value}`);
  const remarks = note === undefined ? unusual : [note, ...unusual];
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

/** Resolves when the operating system has all pieces; never when the connection is lost before. */
async function sendPieces(
  stream: Writable,
  pieces: readonly Piece[],
  pauseMs = PAUSE_BETWEEN_PIECES_MS,
): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(pauseMs);
    await new Promise<void>((resolve) => {
      stream.write(piece, (error) => {
        if (!error) resolve();
      });
    });
  }
}

async function read(message: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  return text;
}

function toResponse(request: string, message: http.IncomingMessage, body: string): HttpResponse {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { request, status: message.statusCode ?? 0, headers, body };
}

/** Parses the first final response in the bytes (RFC 9112); everything after its head is its body. */
function parseResponse(request: string, bytes: Buffer): HttpResponse {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) {
    throw new NoResponse(request, `the connection closed after ${bytes.length} bytes that are no response`);
  }
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parseResponse(request, rest);

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
