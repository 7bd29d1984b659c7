import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How the server responds to a request. */
export type Reaction =
  /** A response in the envelope. */
  | {
      readonly status: number;
      readonly message?: string;
      readonly data?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A response with another body. */
  | {
      readonly status: number;
      readonly content: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Closes the connection without a response. */
  | 'cut'
  /** Closes the connection within the body. */
  | 'cut in the content'
  /** Never responds. */
  | 'silence'
  /** Never ends the body. */
  | 'silence in the content';

/** A step of a script; some depend on the request. */
export type Step = Reaction | ((request: SeenRequest) => Reaction | Promise<Reaction>);

export function times(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step);
}

export interface SeenRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The lifetime of the tokens, in seconds. */
export const LIFETIME_SECONDS = 15 * 60;

/**
 * An HTTP server on loopback that responds according to a script. Sign-ins have a script of their own; after its end each
 * gets a token.
 */
export class ScriptedServer implements AsyncDisposable {
  /** The requests, without sign-ins, in their order. */
  readonly requests: SeenRequest[] = [];
  readonly signIns: SeenRequest[] = [];
  readonly #script: readonly Step[];
  readonly #signInScript: readonly Step[];
  readonly #server = createServer((request, response) => void this.#respond(request, response));
  #closed = 0;

  private constructor(script: readonly Step[], signInScript: readonly Step[]) {
    this.#script = script;
    this.#signInScript = signInScript;
    this.#server.on('connection', (socket) => {
      socket.on('close', () => {
        this.#closed++;
        this.#server.emit('change');
      });
    });
  }

  /**
   * Starts a server.
   *
   * @param script the response to each request; after its end 500
   * @param signInScript the response to each sign-in
   */
  static async start(script: readonly Step[], signInScript: readonly Step[] = []): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, signInScript);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves after this number of requests, including sign-ins. */
  async hasRequests(count: number): Promise<void> {
    while (this.requests.length + this.signIns.length < count) await once(this.#server, 'change');
  }

  /** Resolves after this number of closed connections. */
  async hasClosed(count: number): Promise<void> {
    while (this.#closed < count) await once(this.#server, 'change');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const seen = { method, path, headers, body: await text(request) };
    const isSignIn = path.endsWith('/token');
    const [log, script] = isSignIn ? [this.signIns, this.#signInScript] : [this.requests, this.#script];
    log.push(seen);
    this.#server.emit('change');
    const step: Step = script[log.length - 1] ?? (isSignIn ? tokenNumber(log.length) : AFTER_SCRIPT);
    react(response, typeof step === 'function' ? await step(seen) : step);
  }
}

/** The response to the nth sign-in. */
export function tokenNumber(number: number): Reaction {
  return { status: 200, data: { token: makeToken(number, Date.now() / 1_000 + LIFETIME_SECONDS) } };
}

/** A token with an expiry, in Unix time, and a number in place of the signature. */
export function makeToken(number: number, exp: number): string {
  return `${inBase64url({ alg: 'HS256', typ: 'JWT' })}.${inBase64url({ exp: Math.floor(exp) })}.${number}`;
}

function inBase64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The number in a token. */
export function numberOf(token: string | undefined): number {
  return Number(token?.split('.')[2]);
}

const AFTER_SCRIPT: Reaction = { status: 500, message: 'the script has ended' };

function react(response: ServerResponse, reaction: Reaction): void {
  if (reaction === 'cut') response.socket?.destroy();
  else if (reaction === 'silence') return;
  else if (typeof reaction === 'string') {
    response.writeHead(200, { 'Content-Length': 1_000 });
    response.write('{"status":200,', () => {
      if (reaction === 'cut in the content') response.socket?.destroy();
    });
  } else {
    const { status, headers } = reaction;
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    if ('content' in reaction) response.end(reaction.content);
    else if (status === 304) response.end();
    else
      response.end(
        JSON.stringify({ status, message: reaction.message ?? 'OK', data: reaction.data ?? null }),
      );
  }
}
