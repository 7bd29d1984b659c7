import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { assertNothingConfidential } from './confidential.ts';
import { assertNothingConfidentialInLog } from './log.ts';
import { longBooks } from './long-books.ts';

const MAIN = join(import.meta.dirname, '..', 'bin', 'bookkeeping.mjs');

/** Variables of the environment of a process. */
export type Variables = Readonly<Record<string, string>>;

/** The end of a process, and its output. */
export interface Ending {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly complaints: string;
}

/** A service in its own process. Disposing kills it, and asserts that its output has no confidential data. */
export class ServiceProcess implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #confidential: readonly string[];
  readonly #listening = Promise.withResolvers<number>();
  readonly #ending: Promise<Ending>;
  #output = '';
  #complaints = '';
  #port = 0;

  /**
   * Starts `node bin/bookkeeping.mjs` in a folder, on a free port of loopback.
   *
   * @param variables the whole environment
   * @param nodeOptions the options of `node`
   * @param main another main module
   */
  constructor(
    folder: string,
    variables: Variables = {},
    nodeOptions: readonly string[] = [],
    main: string = MAIN,
  ) {
    this.#confidential = confidentialIn(variables);
    this.#process = spawn(process.execPath, [...nodeOptions, main], {
      cwd: folder,
      env: { HOST: '127.0.0.1', PORT: '0', ...variables },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      const port = /Server listening at \S*:([0-9]+)["\n]/.exec(this.#output)?.[1];
      if (port) this.#listening.resolve(Number(port));
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
    this.#ending = once(this.#process, 'close').then(([code, signal]) => {
      this.#listening.reject(new Error(`the service ended with ${code}: ${this.#complaints}`));
      return {
        code: code as number | null,
        signal: signal as NodeJS.Signals | null,
        output: this.#output,
        complaints: this.#complaints,
      };
    });
    this.#listening.promise.catch(() => {});
  }

  /** Resolves when the service listens. @throws Error when it exits before */
  async listening(): Promise<this> {
    this.#port = await this.#listening.promise;
    return this;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Its standard output so far. */
  get output(): string {
    return this.#output;
  }

  /** Sends a signal, and returns at once. */
  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Sends the message that replaces SIGTERM on Windows, and returns at once. */
  shutDown(): void {
    this.#process.send('shutdown', () => {});
  }

  /** Resolves when the service refuses new connections. */
  async portClosed(): Promise<void> {
    for (;;) {
      const socket = connect(this.#port, '127.0.0.1');
      try {
        await once(socket, 'connect');
      } catch {
        return;
      } finally {
        socket.destroy();
      }
      await sleep(10);
    }
  }

  /** Resolves when the process has exited. */
  ended(): Promise<Ending> {
    return this.#ending;
  }

  /** Stops the service as its platform does; resolves when the process has exited. */
  stop(): Promise<Ending> {
    if (process.platform === 'win32') this.shutDown();
    else this.signal('SIGTERM');
    return this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    const { output, complaints } = await this.#ending;
    for (const text of this.#confidential)
      assert.ok(!(output + complaints).includes(text), 'a secret was printed');
    // On a terminal there is other text, and a kill may truncate the last line.
    const whole = output.split('\n').slice(0, -1);
    const lines = whole.filter((line) => line.startsWith('{'));
    assertNothingConfidentialInLog(lines, this.#confidential);
  }
}

/** Shorter secrets may occur in any text. */
const SECRET_LENGTH_MIN = 6;

/** The secrets of the configuration, and the password of the store. */
function confidentialIn(variables: Variables): string[] {
  const { SECRET_TOKEN = '', SECRET_TOKEN_PREVIOUS = '', AUTH_PASSWORD = '', DB_URL = '' } = variables;
  const [, storePassword = ''] = /^\w+:\/\/[^:/@]*:([^@]*)@/.exec(DB_URL) ?? [];
  return [SECRET_TOKEN, SECRET_TOKEN_PREVIOUS, AUTH_PASSWORD, storePassword].filter(
    ({ length }) => length >= SECRET_LENGTH_MIN,
  );
}

/** Starts a service and waits until it listens. */
export function startService(
  folder: string,
  variables: Variables = {},
  nodeOptions: readonly string[] = [],
): Promise<ServiceProcess> {
  return new ServiceProcess(folder, variables, nodeOptions).listening();
}

/** The variables in the file `.env` of a folder. */
export async function readEnvironmentFile(folder: string): Promise<Record<string, string | undefined>> {
  return parseEnv(await readFile(join(folder, '.env'), 'utf8'));
}

export interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/** Requests a token. */
export async function signIn(service: ServiceProcess, username: string, password: string): Promise<Envelope> {
  return send(service, 'POST', '/token', { body: JSON.stringify({ username, password }) });
}

/** Requests a token with the credentials in `.env` of a folder. @returns the token */
export async function tokenFrom(service: ServiceProcess, folder: string): Promise<string> {
  const { AUTH_USERNAME = '', AUTH_PASSWORD = '' } = await readEnvironmentFile(folder);
  const { status, data } = await signIn(service, AUTH_USERNAME, AUTH_PASSWORD);
  assert.equal(status, 200);
  return (data as { token: string }).token;
}

/** Sends a request on a new connection. @throws Error when there is no response */
export async function send(
  service: ServiceProcess,
  method: string,
  path: string,
  { token = '', body = null }: { readonly token?: string; readonly body?: string | null } = {},
): Promise<Envelope> {
  const headers = { connection: 'close', ...(token !== '' && { authorization: token }) };
  const response = await fetch(`${service.url}${path}`, { method, headers, body });
  const text = await response.text();
  if (response.status >= 400) assertNothingConfidential(text);
  return JSON.parse(text) as Envelope;
}

/** Creates a book. @returns its id */
export async function createBook(service: ServiceProcess, token: string, title: string): Promise<number> {
  const { status, data } = await send(service, 'POST', '/book', { token, body: JSON.stringify({ title }) });
  assert.equal(status, 201);
  return (data as { id: number }).id;
}

/** Stores books with long texts, of about so many MiB together. */
export async function createLongBooks(
  service: ServiceProcess,
  token: string,
  mebibytes: number,
): Promise<void> {
  const body = longBooks(1);
  for (let count = 0; count < mebibytes; count++)
    assert.equal((await send(service, 'POST', '/books', { token, body })).status, 201);
}

/** The titles of all books, by id. */
export async function listTitles(service: ServiceProcess, token: string): Promise<Map<number, string>> {
  const { status, data } = await send(service, 'GET', '/books', { token });
  assert.equal(status, 200);
  return new Map((data as { id: number; title: string }[]).map(({ id, title }) => [id, title]));
}
