import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the server does with a request. */
export type Reaction =
  /** It answers in the envelope. */
  | {
      readonly status: number;
      readonly message?: string;
      readonly data?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** It answers with a content of its own. */
  | {
      readonly status: number;
      readonly content: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** It closes the connection without an answer. */
  | 'cut'
  /** It closes the connection in the middle of the answer. */
  | 'cut in the content'
  /** It never answers. */
  | 'silence'
  /** It never ends its answer. */
  | 'silence in the content';

/** A step of a script; some depend on the request. */
export type Step = Reaction | ((request: SeenRequest) => Reaction | Promise<Reaction>);

/** The same step, so many times. */
export function times(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step);
}

/** A request as it came. */
export interface SeenRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How long the tokens of the script are good by the clock of the machine, in seconds. */
export const LIFETIME_SECONDS = 15 * 60;

/**
 * An HTTP server on loopback that follows a script: for what the service does only when it is in trouble. Sign-ins
 * have a script of their own, behind whose end every one gets a token.
 */
export class ScriptedServer implements AsyncDisposable {
  /** What came besides sign-ins, in its order. */
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
   * @param script what it does with one request after the other; behind its end it answers 500
   * @param signInScript what it does with sign-ins
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

  /** Resolves when so many requests have come, sign-ins included. */
  async hasRequests(count: number): Promise<void> {
    while (this.requests.length + this.signIns.length < count) await once(this.#server, 'change');
  }

  /** Resolves when so many connections have been closed. */
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
    const step: Step = script[log.length - 1] ?? (isSignIn ? tokenNumber(log.length) : BEYOND_THE_SCRIPT);
    react(response, typeof step === 'function' ? await step(seen) : step);
  }
}

/** The token that the nth sign-in gets. It expires {@link LIFETIME_SECONDS} later. */
export function tokenNumber(number: number): Reaction {
  return { status: 200, data: { token: makeToken(number, Date.now() / 1_000 + LIFETIME_SECONDS) } };
}

/** A token that says when it expires, in Unix time, and has a number in the place of the signature. */
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

const BEYOND_THE_SCRIPT: Reaction = { status: 500, message: 'beyond the script' };

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
