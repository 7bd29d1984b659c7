import { batch } from '@preact/signals';
import { type Book, type BookClient, type BookFields, RefusedError } from 'bookkeeping-client/index.ts';
import { FIELDS, fieldsOf, textLengthOf } from 'bookkeeping-formats/row.ts';
import { bookOf, type Change } from './book-list.ts';
import { type Connection, isTemporary } from './connection.ts';
import { entityTag } from './entity-tag.ts';
import { differingFields, isNameless, isSame } from './fields.ts';
import type { History } from './history.ts';
import type { Failure } from './selection.ts';

/** What the service takes in one request, all or none. */
const REQUEST_BOOKS_MAX = 10_000;

/** The service takes 16 MiB, but many proxies limit a request to 1 MB. */
const REQUEST_BYTES_MAX = 1_000_000;

/** More than an element without its texts. */
const ELEMENT_BYTES = 90;

/** Gets what became of a change: the change with the book as it was stored, or why it was not made. */
export type Report = (change: Change, result: Change | Failure) => void;

/** A change of a stored book, if it still is as `before`. Its entity tag is made when it is sent: a million take seconds. */
interface Update extends Change {
  /** The change as it was wanted, of an earlier version. */
  readonly change: Change;
  readonly before: Book;
}

/** Writes books, many of them in one request, which is repeated as long as the service cannot be reached. */
export class BookWriter {
  readonly #client: BookClient;
  readonly #history: Pick<History, 'known'>;
  readonly #connection: Connection;
  /** The new books of the last request: after an error they are sent again with the same key, and are stored once. */
  #created = { content: '', key: '' };

  constructor(client: BookClient, history: Pick<History, 'known'>, connection: Connection) {
    this.#client = client;
    this.#history = history;
    this.#connection = connection;
  }

  /**
   * Makes changes. Fields that another user has changed since are left as they are, and reported as a failure.
   *
   * @param report is called for each change that was made or that failed, request by request
   * @param stop ends the work after the requests in flight, or while it waits for the service
   * @throws errors that are not about a single book
   */
  async write(changes: readonly Change[], report: Report, stop?: AbortSignal): Promise<void> {
    try {
      await this.#write(changes, report, stop);
    } finally {
      this.#connection.obstacle.value = undefined;
    }
  }

  async #write(changes: readonly Change[], report: Report, stop?: AbortSignal): Promise<void> {
    const [deleted, created, updates]: [Change[], Change[], Update[]] = [[], [], []];
    for (const change of changes) {
      const { before, after } = change;
      if (after && isNameless(after) && !(before && isNameless(before)))
        report(change, { book: bookOf(change), reason: 'nameless' });
      else if (before) updates.push({ change, before, after });
      else (bookOf(change).id > 0 ? deleted : created).push(change);
    }
    const canRestore = deleted.length > 0 && (await this.#history.known());
    created.push(...(canRestore ? await this.#restore(deleted, report, stop) : deleted));
    await this.#inRequests(
      created,
      stop,
      (part) => this.#create(part, report),
      async (change, reason) => {
        report(change, { book: bookOf(change), reason });
        return [];
      },
    );
    await this.#inRequests(
      updates,
      stop,
      (part) => this.#update(part, report),
      async (update, rejection) => {
        const next = await this.#resolve(update, rejection);
        if ('change' in next) return [next];
        report(update.change, next);
        return [];
      },
    );
  }

  /** Stores deleted books again. @returns those that the history does not have */
  async #restore(changes: readonly Change[], report: Report, stop?: AbortSignal): Promise<readonly Change[]> {
    const unknown: Change[] = [];
    /** The books that are not as wanted: a restored book is as it was deleted, which may be later. */
    const different: Update[] = [];
    await this.#inRequests(
      changes,
      stop,
      async (part) => {
        const restored = await this.#client.restoreMany(part.map((change) => bookOf(change).id));
        batch(() => {
          for (const [index, change] of part.entries()) {
            const [wanted, before] = [bookOf(change), restored[index] ?? bookOf(change)];
            if (isSame<BookFields>(before, wanted)) report(change, { before: undefined, after: before });
            else different.push({ change, before, after: wanted });
          }
        });
      },
      async (change, rejection) => {
        const book = bookOf(change);
        const isThere = rejection.status === 409;
        const now = isThere ? await this.#client.find(book.id) : undefined;
        if (rejection.status === 404) unknown.push(change);
        // An earlier attempt, without a response, has restored it.
        else if (now && isSame<BookFields>(now, book)) report(change, { before: undefined, after: now });
        else report(change, { book, reason: isThere ? 'changed' : rejection });
        return [];
      },
    );
    await this.#inRequests(
      different,
      undefined,
      (part) =>
        this.#update(part, (change, result) =>
          report(change, 'reason' in result ? result : { before: undefined, after: result.after }),
        ),
      async ({ change, before }) => {
        report(change, { book: before, reason: 'changed' });
        return [];
      },
    );
    return unknown;
  }

  async #create(changes: readonly Change[], report: Report): Promise<void> {
    const books = changes.map(bookOf).map(fieldsOf);
    const content = JSON.stringify(books);
    // `crypto.randomUUID` is undefined without TLS.
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    if (this.#created.content !== content) this.#created = { content, key };
    const stored = await this.#client.createMany(books, { idempotencyKey: this.#created.key });
    this.#created = { content: '', key: '' };
    batch(() => {
      for (const [index, change] of changes.entries())
        report(change, { before: undefined, after: stored[index] });
    });
  }

  async #update(updates: readonly Update[], report: Report): Promise<void> {
    const stored = await this.#client.updateMany(
      updates.map(({ before, after }) => {
        const { id } = before;
        const ifMatch = entityTag(before);
        return after ? { id, ...differingFields(after, before), ifMatch } : { id, deleted: true, ifMatch };
      }),
    );
    batch(() => {
      for (const [index, { change, before }] of updates.entries())
        report(change, { before, after: stored[index] ?? undefined });
    });
  }

  /**
   * Sends items in as few requests as the service takes, each all or none.
   *
   * @param resolve is called when a request was rejected because of an item, instead of which its result is sent
   */
  async #inRequests<Item extends Change>(
    items: readonly Item[],
    stop: AbortSignal | undefined,
    send: (part: readonly Item[]) => Promise<void>,
    resolve: (item: Item, rejection: RefusedError) => Promise<readonly Item[]>,
  ): Promise<void> {
    const queue = [...items];
    let size = REQUEST_BOOKS_MAX;
    while (queue.length > 0) {
      if (stop?.aborted) return;
      const part = firstOf(queue, size);
      try {
        const rejection = await rejectionOf(send(part));
        this.#connection.obstacle.value = undefined;
        if (!rejection) {
          queue.splice(0, part.length);
          size = Math.min(2 * size, REQUEST_BOOKS_MAX);
          continue;
        }
        // The stored texts are too long together, or a proxy allows less.
        const isTooLong = rejection.status === 413;
        const index = rejection.invalidIndex ?? (isTooLong && part.length === 1 ? 0 : -1);
        const item = part[index];
        if (item) queue.splice(index, 1, ...(await resolve(item, rejection)));
        else if (!isTooLong) throw rejection;
        // With fewer books, it is rarer that one of them is at fault.
        size = Math.ceil(part.length / 2);
      } catch (error) {
        // What may have happened without a response has no further effect when it is sent again.
        if (!(await this.#connection.wait(error, stop))) throw error;
      }
    }
  }

  /** Finds out why an update was rejected. @returns the update of the current version, or what became of the change */
  async #resolve(update: Update, rejection: RefusedError): Promise<Update | Change | Failure> {
    const { change, before, after } = update;
    if (rejection.status !== 404 && rejection.status !== 412) return { book: before, reason: rejection };
    const found = rejection.status === 404 ? undefined : await this.#client.find(before.id);
    if (!found) return after ? { book: before, reason: 'missing' } : { before, after };
    const { etag: _, ...now } = found;
    if (isSame(before, now)) return { book: before, reason: rejection };
    const fields = FIELDS.filter((field) => after?.[field] !== before[field]);
    if (fields.some((field) => now[field] !== before[field] && now[field] !== after?.[field]))
      return { book: before, reason: 'changed', now };
    // Other fields, which another user has changed, also remain after an undo.
    const merge = (book: Book) => ({
      ...now,
      ...Object.fromEntries(fields.map((field) => [field, book[field]])),
    });
    const merged = after && merge(after);
    if (merged && isSame(merged, now)) return { before: merge(before), after: now };
    return { change, before: now, after: merged };
  }
}

/** Why the service has rejected a request; undefined if it has not. @throws any other error */
async function rejectionOf(sent: Promise<void>): Promise<RefusedError | undefined> {
  try {
    await sent;
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedError) || isTemporary(error)) throw error;
    return error;
  }
}

/** The first changes, as many as a request may have. */
function firstOf<Item extends Change>(queue: readonly Item[], size: number): Item[] {
  const part: Item[] = [];
  let bytes = 0;
  for (const item of queue) {
    const { before, after } = item;
    const sent = !after ? {} : before ? differingFields(after, before) : after;
    // Three bytes for a UTF-16 code unit are the most in UTF-8.
    bytes += ELEMENT_BYTES + 3 * textLengthOf(sent);
    if (part.length === size || (part.length > 0 && bytes > REQUEST_BYTES_MAX)) break;
    part.push(item);
  }
  return part;
}
