import { makeToken } from '../conformance/tokens.ts';
import type { Book } from '../src/book/book.ts';
import { type Answer, Connection, Cut, request } from '../test/http/connection.ts';
import type { Ending, Wish } from './journal.ts';

/** Where a service listens on loopback, and the key that it verifies tokens with. */
export interface Target {
  readonly port: number;
  readonly secret: string;
}

/** What one client calls a service over: a keep-alive connection, and a new one when that is lost. */
export class Line implements Disposable {
  readonly #target: Target;
  readonly #lines: readonly string[];
  #connection: Connection | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#lines = [`Authorization: ${makeToken(target.secret, {})}`, 'Content-Type: application/json'];
  }

  /** @returns whether the service can be called; nothing was sent to one that cannot */
  async open(): Promise<boolean> {
    if (this.#connection?.isBroken) this.hangUp();
    try {
      this.#connection ??= await Connection.open(this.#target);
      return true;
    } catch {
      return false;
    }
  }

  /** Sends a request, which is unknown when no answer comes. @throws Error when an answer cannot be read */
  async ask(wish: Wish): Promise<Ending> {
    try {
      return endingOf(await this.#exchange(wish));
    } catch (error) {
      this.hangUp();
      if (!isLoss(error)) throw error;
      return { is: 'unknown', reason: String(error) };
    }
  }

  /** All books, in one answer. @throws Error when they cannot be had */
  async list(): Promise<Book[]> {
    const { status, body } = await this.#send('GET /books');
    if (status !== 200) throw new Error(`GET /books was answered with ${status}`);
    return (JSON.parse(body) as { data: Book[] }).data;
  }

  [Symbol.dispose](): void {
    this.hangUp();
  }

  #exchange(wish: Wish): Promise<Answer> {
    if (wish.kind === 'create') {
      const lines = wish.key === undefined ? [] : [`Idempotency-Key: ${wish.key}`];
      return this.#send('POST /book', JSON.stringify(wish.sent), lines);
    }
    if (wish.kind === 'update') return this.#send(`PUT /book/${wish.id}`, JSON.stringify(wish.sent));
    return this.#send(`${wish.kind === 'find' ? 'GET' : 'DELETE'} /book/${wish.id}`);
  }

  async #send(start: string, body?: string, lines: readonly string[] = []): Promise<Answer> {
    this.#connection ??= await Connection.open(this.#target);
    await this.#connection.send(request(start, [...this.#lines, ...lines], body));
    const answer = await this.#connection.answer();
    if (answer.headers.get('connection') === 'close') this.hangUp();
    return answer;
  }

  /** Ends the connection; the next request goes over another. */
  hangUp(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}

function endingOf({ status, body }: Answer): Ending {
  if (status === 404) return { is: 'absent' };
  if (status >= 500) return { is: 'unknown', reason: `status ${status}` };
  if (status >= 400) return { is: 'refused', status };
  return { is: 'done', data: (JSON.parse(body) as { data: Book | null }).data };
}

/** Whether no answer came, as against one that cannot be read. */
function isLoss(error: unknown): boolean {
  if (error instanceof Cut) return true;
  return error instanceof Error && ('code' in error || error.message.endsWith('stays silent'));
}
