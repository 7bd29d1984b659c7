import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Book } from '../expect.ts';
import type { Reply } from './reply.ts';
import type { Planted } from './violations.ts';

interface Change {
  readonly cursor: string;
  readonly type: 'created' | 'updated' | 'deleted';
  readonly at: string;
  readonly book: Book;
}

const INVALID_QUERY = { status: 400, message: 'Invalid query' };

/** The log of changes in memory, except for the planted violation. */
export class History {
  readonly #has: Planted;
  readonly #changes: Change[] = [];

  constructor(has: Planted) {
    this.#has = has;
  }

  record(type: Change['type'], book: Book, former?: Book): void {
    if (type === 'updated' && isDeepStrictEqual(former, book) && !this.#has('every PUT is a change')) return;
    if (type === 'deleted' && this.#has('the history has no deletions')) return;
    this.#changes.push({ cursor: `${this.#changes.length + 1}`, type, at: new Date().toISOString(), book });
  }

  async list({ url = '' }: IncomingMessage): Promise<Reply> {
    const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
    const after = query.get('after');
    const isKnown = after === null || this.#changes.some(({ cursor }) => cursor === after);
    const [limit, wait] = [Number(query.get('limit') ?? 100), Number(query.get('wait') ?? 0)];
    const isValid =
      limit >= 1 && limit <= 1_000 && wait >= 0 && wait <= 60 && query.getAll('limit').length < 2;
    if (!isValid || (!isKnown && !this.#has('any cursor is accepted'))) return INVALID_QUERY;
    const waitUntil = this.#has('GET /changes never waits') ? 0 : Date.now() + wait * 1_000;
    let changes = this.#after(after, limit);
    while (changes.length === 0 && Date.now() < waitUntil) {
      await sleep(5);
      changes = this.#after(after, limit);
    }
    const next = changes.at(-1)?.cursor ?? after ?? '';
    const isLinked = changes.length > 0 || !this.#has('an empty page has no link');
    return {
      status: 200,
      message: 'Changes retrieved successfully',
      data: changes,
      headers: isLinked ? { Link: `</changes?limit=${limit}&after=${next}>; rel="next"` } : {},
    };
  }

  listOfBook(id: number): Reply {
    const changes = this.#changes.filter(({ book }) => book.id === id);
    if (changes.length === 0 && !this.#has('an unknown history is empty'))
      return { status: 404, message: 'Book not found' };
    if (!this.#has('the history of a book has the first change first')) changes.reverse();
    return { status: 200, message: 'History retrieved successfully', data: changes };
  }

  /** The book as it was deleted. */
  lastOf(id: number): Book | undefined {
    const changes = this.#changes.filter(({ book }) => book.id === id);
    const last = this.#has('a book is restored as it was created') ? changes[0] : changes.at(-1);
    return last?.book;
  }

  #after(after: string | null, limit: number): Change[] {
    const first = this.#changes.findIndex(({ cursor }) => cursor === after) + 1;
    return this.#changes.slice(first, first + limit);
  }
}
