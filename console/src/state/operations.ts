import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { type Book, type BookClient, type BookFields, RefusedError } from '../../../src/client/index.ts';
import { FIELDS } from '../../../src/formats/row.ts';
import type { BookList, Change } from './book-list.ts';
import { differingFields, isNameless, isSame } from './fields.ts';
import type { Failure, Selection } from './selection.ts';

/** The limit of an operation, which has its books in memory, with their former versions for the undo. */
export const OPERATION_BOOKS_MAX = 100_000;

/** Calls in flight; browsers open 6 connections, and other calls need some. */
const CONCURRENCY = 4;

export type OperationKind = 'added' | 'edited' | 'deleted' | 'imported' | 'restored';

/** What the user has done, and can undo and do again. */
export interface Operation {
  readonly kind: OperationKind;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** What has become of the books; not yet all of those of an import that runs. */
  readonly changes: readonly Change[];
  readonly isUndone: boolean;
}

/** The running operation, and the number of books it has done. */
export interface Progress {
  readonly step: 'reading' | 'writing' | 'undoing';
  readonly done: number;
  readonly total: number;
}

/** What an operation, its undo or its repetition has done. */
export interface Report {
  readonly operation: Operation;
  readonly done: readonly Change[];
  readonly failures: readonly Failure[];
  /** What was not tried, as an error ended the operation or the user has stopped it. */
  readonly left: readonly Change[];
  readonly error: unknown;
  /** Whether deleted books were stored again under other numbers, as there is no history. */
  readonly isRenumbered: boolean;
}

/**
 * The operations of this session, the last one at the end. Each is a list of changes; its inverse is the same list with
 * `before` and `after` exchanged. A book that another user has changed since is left as it is.
 */
export class Operations {
  readonly all = signal<readonly Operation[]>([]);
  readonly progress = signal<Progress | undefined>(undefined);
  /** The error that ended the last operation before all books were done. */
  readonly error = signal<unknown>(undefined);
  /** What the last operation has done, to tell the user. */
  readonly report = signal<Report | undefined>(undefined);
  readonly canUndo = computed(() => this.all.value.some(({ isUndone }) => !isUndone));
  readonly #client: BookClient;
  readonly #list: BookList;
  readonly #selection: Selection;
  readonly #hasHistory: ReadonlySignal<boolean>;
  #controller = new AbortController();
  #last = Promise.resolve();

  constructor(
    client: BookClient,
    list: BookList,
    selection: Selection,
    isSignedIn: ReadonlySignal<boolean>,
    hasHistory: ReadonlySignal<boolean>,
  ) {
    this.#client = client;
    this.#list = list;
    this.#selection = selection;
    this.#hasHistory = hasHistory;
    effect(() => {
      if (isSignedIn.value) return;
      this.stop();
      this.all.value = [];
      this.report.value = undefined;
    });
  }

  /** Ends the running operation after its calls in flight. */
  stop(): void {
    this.#controller.abort();
  }

  async run(kind: OperationKind, changes: readonly Change[]): Promise<Report> {
    const result = await this.#perform('writing', changes);
    const operation = { kind, at: Date.now(), changes: result.done, isUndone: false };
    if (result.done.length > 0) this.all.value = [...this.all.value, operation];
    const report = { operation, ...result };
    this.report.value = report;
    return report;
  }

  /** Changes the selected books, or the given one if none is selected. @param change what becomes of a book */
  async runSelected(
    kind: OperationKind,
    change: (book: Book) => Book | undefined,
    book?: Book,
  ): Promise<void> {
    const { count } = this.#selection;
    let books: readonly Book[] = book && count.value === 0 ? [book] : [];
    if (books.length === 0) {
      const selected = await this.#readSelected(count.value);
      if (!selected) return;
      books = selected;
      this.#selection.clear();
    }
    await this.run(
      kind,
      books.map((before) => ({ before, after: change(before) })),
    );
  }

  /** Adds an operation that has been done. */
  record(kind: OperationKind, changes: readonly Change[]): void {
    const operation = { kind, at: Date.now(), changes, isUndone: false };
    this.all.value = [...this.all.value, operation];
    this.report.value = {
      operation,
      done: changes,
      failures: [],
      left: [],
      error: undefined,
      isRenumbered: false,
    };
  }

  /** Replaces an import that continues, if it is not the first time. @returns the operation with its present changes */
  extend(operation: Operation | undefined, changes: readonly Change[]): Operation {
    const extended = { kind: 'imported', at: Date.now(), changes, isUndone: false } as const;
    this.all.value = [...this.all.value.filter((other) => other !== operation), extended];
    return extended;
  }

  /** Undoes an operation, by default the last one that is not undone. */
  async undo(operation = this.all.value.findLast(({ isUndone }) => !isUndone)): Promise<void> {
    if (operation) await this.#reverse(operation);
  }

  /** Does an operation again, by default the first one after those that are not undone. */
  async redo(
    operation = this.all.value[this.all.value.findLastIndex(({ isUndone }) => !isUndone) + 1],
  ): Promise<void> {
    if (operation) await this.#reverse(operation);
  }

  async #reverse(operation: Operation): Promise<void> {
    const isRedo = operation.isUndone;
    const index = this.all.value.indexOf(operation);
    const orient = (changes: readonly Change[]) => (isRedo ? changes : inverseOf(changes));
    const result = await this.#perform(isRedo ? 'writing' : 'undoing', orient(operation.changes));
    const { done, left } = result;
    const reversed = { ...operation, changes: orient(done), isUndone: !isRedo };
    const rest = left.length > 0 ? [{ ...operation, changes: orient(left) }] : [];
    if (done.length > 0) this.all.value = this.all.value.toSpliced(index, 1, ...rest, reversed);
    this.report.value = { operation: reversed, ...result };
  }

  /** Reads the selected books. @returns undefined when that fails or is stopped */
  async #readSelected(total: number): Promise<readonly Book[] | undefined> {
    if (total === 0 || total > OPERATION_BOOKS_MAX || this.progress.value) return undefined;
    const books: Book[] = [];
    const isRead = await this.#inTurn('reading', total, async (stop) => {
      for await (const page of this.#selection.pages(stop)) {
        books.push(...page);
        this.#showDone(books.length);
      }
    });
    return isRead ? books : undefined;
  }

  /** Makes changes. Those that are not made are selected, with the reason if there is one for a single book. */
  async #perform(step: Progress['step'], changes: readonly Change[]): Promise<Omit<Report, 'operation'>> {
    const results = new Map<Change, Change | Failure>();
    await this.#inTurn(step, changes.length, async (stop) => {
      const queue = changes.values();
      const errors: unknown[] = [];
      const workInTurn = async () => {
        for (const change of queue) {
          if (errors.length > 0 || stop.aborted) return;
          await this.#write(change, stop).then(
            (result) => results.set(change, result),
            (error: unknown) => errors.push(error),
          );
          this.#showDone(results.size);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, workInTurn));
      if (errors.length > 0) throw errors[0];
    });
    const ordered = changes.map((change) => results.get(change));
    const done = ordered.filter((result): result is Change => result !== undefined && !('reason' in result));
    const failures = ordered.filter(
      (result): result is Failure => result !== undefined && 'reason' in result,
    );
    const left = changes.filter((change) => !results.has(change));
    const numbers = new Map<number, number>();
    for (const [{ before, after }, result] of results)
      if (!before && after && 'after' in result && result.after) numbers.set(after.id, result.after.id);
    const isRenumbered = this.#renumber(numbers);
    await this.#show(done, failures, left.map(bookOf));
    return { done, failures, left, isRenumbered, error: this.error.value };
  }

  /** Gives books the numbers under which they were stored again, also in the operations before. */
  #renumber(numbers: ReadonlyMap<number, number>): boolean {
    const isNew = [...numbers].some(([before, after]) => before !== after && before !== 0);
    const renumbered = (book: Book | undefined) => book && { ...book, id: numbers.get(book.id) ?? book.id };
    if (isNew)
      this.all.value = this.all.value.map((operation) => ({
        ...operation,
        changes: operation.changes.map(({ before, after }) => ({
          before: renumbered(before),
          after: renumbered(after),
        })),
      }));
    return isNew;
  }

  async #show(done: readonly Change[], failures: readonly Failure[], left: readonly Book[]): Promise<void> {
    const changed = failures.flatMap(({ now }) => (now ? [{ before: now, after: now }] : []));
    const isPlaced = done.some(({ before, after }) => !before && after);
    batch(() => {
      this.#list.apply([...done, ...changed]);
      const deleted = done.flatMap(({ before, after }) => (before && !after ? [before] : []));
      this.#selection.set(deleted, false);
      if (left.length + failures.length > 1 || this.#selection.count.value > 0)
        this.#selection.set([...failures.map(({ book }) => book), ...left], true);
      this.#selection.failures.value = new Map(failures.map((failure) => [failure.book.id, failure]));
    });
    if (isPlaced) await this.#list.reload();
    const [first] = done;
    if (first?.after && done.length === 1) await this.#list.reveal(first.after, { isNear: true });
  }

  async #write(change: Change, stop: AbortSignal): Promise<Change | Failure> {
    const { before, after } = change;
    const book = bookOf(change);
    try {
      if (after && isNameless(after) && !(before && isNameless(before))) return { book, reason: 'nameless' };
      if (!before) return { before, after: await this.#create(book) };
      return after ? await this.#update(before, after, stop) : await this.#delete(before, stop);
    } catch (error) {
      // Other errors end the operation.
      const isOfBook =
        error instanceof RefusedError && error.status < 500 && ![401, 429].includes(error.status);
      if (isOfBook) return { book, reason: error.status === 409 ? 'changed' : error };
      throw error;
    }
  }

  /** Stores a book, under its number if it is a deleted one whose history is kept. */
  async #create({ id, title, author, year }: Book): Promise<Book> {
    const fields = { title, author, year };
    const restored = this.#hasHistory.value && id > 0 ? await this.#client.restore(id) : undefined;
    if (!restored) return await this.#client.create(fields);
    if (isSame<BookFields>(restored, fields)) return restored;
    const { etag = '*' } = restored;
    return (await this.#client.update(id, fields, { ifMatch: etag })) ?? restored;
  }

  /** Deletes a book, unless it has been changed since it was read. */
  async #delete(before: Book, stop: AbortSignal): Promise<Change | Failure> {
    for (;;) {
      const now = await this.#client.find(before.id, { signal: stop });
      if (!now) return { before, after: undefined };
      if (!isSame<BookFields>(now, before)) return { book: before, reason: 'changed', now };
      const { etag = '*' } = now;
      if (await met(this.#client.delete(before.id, { ifMatch: etag }))) return { before, after: undefined };
    }
  }

  /** Changes fields of a book, unless another user has changed them since it was read; changes of other fields are kept. */
  async #update(before: Book, after: Book, stop: AbortSignal): Promise<Change | Failure> {
    const changes = differingFields(after, before);
    const fields = FIELDS.filter((field) => field in changes);
    for (;;) {
      const now = await this.#client.find(before.id, { signal: stop });
      if (!now) return { book: before, reason: 'missing' };
      if (fields.every((field) => now[field] === changes[field])) return { before, after: now };
      if (fields.some((field) => now[field] !== before[field]))
        return { book: before, reason: 'changed', now };
      const { etag = '*' } = now;
      const update = await met(this.#client.update(before.id, changes, { ifMatch: etag }));
      if (update)
        return update.value ? { before: now, after: update.value } : { book: before, reason: 'missing' };
    }
  }

  #showDone(done: number): void {
    if (this.progress.value) this.progress.value = { ...this.progress.value, done };
  }

  /** Runs one operation after another. @returns whether it was neither stopped nor ended by an error */
  async #inTurn(
    step: Progress['step'],
    total: number,
    work: (stop: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    const previous = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await previous;
    this.#controller = new AbortController();
    const { signal: stop } = this.#controller;
    this.error.value = undefined;
    if (total > 1) this.progress.value = { step, done: 0, total };
    try {
      await work(stop);
    } catch (error) {
      // An aborted call is a stop, or a sign-out.
      if (!(error instanceof DOMException)) this.error.value = error;
      else this.#controller.abort();
    } finally {
      this.progress.value = undefined;
      resolve();
    }
    return !stop.aborted && this.error.value === undefined;
  }
}

/** The changes that undo these, the last one first. */
function inverseOf(changes: readonly Change[]): readonly Change[] {
  return changes.map(({ before, after }) => ({ before: after, after: before })).toReversed();
}

/** The book that a change is about. */
export function bookOf({ before, after }: Change): Book {
  return (before ?? after) as Book;
}

/** The result of a conditional call; undefined when the book has changed since its condition was read. */
async function met<Value>(call: Promise<Value>): Promise<{ readonly value: Value } | undefined> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof RefusedError && error.status === 412)) throw error;
    return undefined;
  }
}
