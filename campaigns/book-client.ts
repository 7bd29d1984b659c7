import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../conformance/tokens.ts';
import type { Book } from '../src/book/contract.ts';
import { Connection, Cut, type RawResponse, request } from '../testkit/connection.ts';
import type { Journal, Operation, Outcome } from './journal.ts';

const UNAVAILABLE_MS_MAX = 120_000;
const PAUSE_MS = 200;

/** Where a service listens on loopback, and the secret of its tokens. */
export interface Target {
  readonly port: number;
  readonly secret: string;
}

/** The header line with a valid token. */
export function authorizationLine(secret: string): string {
  return `Authorization: ${makeToken(secret)}`;
}

/** A client of the book endpoints: one keep-alive connection, and a new one when it is lost. */
export class BookClient implements Disposable {
  readonly #target: Target;
  readonly #journal: Journal | undefined;
  readonly #lines: readonly string[];
  #connection: Connection | undefined;

  /** @param journal records the calls of perform() */
  constructor(target: Target, journal?: Journal) {
    this.#target = target;
    this.#journal = journal;
    this.#lines = [authorizationLine(target.secret), 'Content-Type: application/json'];
  }

  /** Connects. @returns whether that succeeded */
  async open(): Promise<boolean> {
    if (this.#connection?.isBroken) this.disconnect();
    try {
      this.#connection ??= await Connection.open(this.#target);
      return true;
    } catch {
      return false;
    }
  }

  /** Sends a request. Its outcome is unknown without a response. @throws Error when a response is malformed */
  async perform(operation: Operation): Promise<Outcome> {
    const attempt = () => this.#attempt(operation);
    return this.#journal ? this.#journal.record(operation, attempt) : attempt();
  }

  /**
   * All books, or those of a query, in one response. On a slow machine a search, or its index, takes longer than a request waits for it.
   *
   * @param patienceMs for responses that it is unavailable
   * @throws Error when the list fails, or is still unavailable then
   */
  async list(query = '', patienceMs = UNAVAILABLE_MS_MAX): Promise<Book[]> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const { status, headers, body } = await this.#send(`GET /books${query}`);
      if (status === 200) return (JSON.parse(body) as { data: Book[] }).data;
      const reason = headers.get('error-detail') ?? body;
      if (status !== 503 || performance.now() > end)
        throw new Error(`GET /books${query} returned ${status}: ${reason}`);
      await sleep(PAUSE_MS);
    }
  }

  [Symbol.dispose](): void {
    this.disconnect();
  }

  async #attempt(operation: Operation): Promise<Outcome> {
    try {
      return outcomeOf(await this.#exchange(operation));
    } catch (error) {
      this.disconnect();
      if (!isConnectionLoss(error)) throw error;
      return { is: 'unknown', reason: String(error) };
    }
  }

  #exchange(operation: Operation): Promise<RawResponse> {
    if (operation.kind === 'create') {
      const lines = operation.key === undefined ? [] : [`Idempotency-Key: ${operation.key}`];
      return this.#send('POST /book', JSON.stringify(operation.sent), lines);
    }
    if (operation.kind === 'update')
      return this.#send(`PUT /book/${operation.id}`, JSON.stringify(operation.sent));
    return this.#send(`${operation.kind === 'find' ? 'GET' : 'DELETE'} /book/${operation.id}`);
  }

  async #send(start: string, body?: string, lines: readonly string[] = []): Promise<RawResponse> {
    this.#connection ??= await Connection.open(this.#target);
    await this.#connection.send(request(start, [...this.#lines, ...lines], body));
    const response = await this.#connection.response();
    if (response.headers.get('connection') === 'close') this.disconnect();
    return response;
  }

  /** Closes the connection; the next request opens another. */
  disconnect(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}

function outcomeOf({ status, body }: RawResponse): Outcome {
  if (status === 404) return { is: 'absent' };
  if (status >= 500) return { is: 'unknown', reason: `status ${status}` };
  if (status >= 400) return { is: 'rejected', status };
  return { is: 'done', data: (JSON.parse(body) as { data: Book | null }).data };
}

/** Whether the response is missing, not malformed. */
function isConnectionLoss(error: unknown): boolean {
  if (error instanceof Cut) return true;
  return error instanceof Error && ('code' in error || error.message.endsWith('stays silent'));
}
