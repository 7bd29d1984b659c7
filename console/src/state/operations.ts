import { batch, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Book, BookClient } from '../../../src/client/index.ts';
import { type BookList, bookOf, type Change } from './book-list.ts';
import type { BookWriter } from './book-writer.ts';
import type { Failure, Selection } from './selection.ts';

/** The limit of an operation, which has its books in memory, with their former versions for the undo. */
export const OPERATION_BOOKS_MAX = 100_000;

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
  /** What writes the books; it is loaded with the code of the commands. */
  readonly loadWriter: () => Promise<BookWriter>;
  readonly #list: BookList;
  readonly #selection: Selection;
  #controller = new AbortController();
  #last = Promise.resolve();

  constructor(
    client: BookClient,
    list: BookList,
    selection: Selection,
    isSignedIn: ReadonlySignal<boolean>,
    hasHistory: ReadonlySignal<boolean>,
  ) {
    let writer: BookWriter | undefined;
    this.loadWriter = async () => {
      const { BookWriter: Writer } = await import('./book-writer.ts');
      writer ??= new Writer(client, hasHistory);
      return writer;
    };
    this.#list = list;
    this.#selection = selection;
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

  /** Undoes the last operation that is not undone. */
  async undo(): Promise<void> {
    const operation = this.all.value.findLast(({ isUndone }) => !isUndone);
    if (operation) await this.reverse(operation);
  }

  /** Does the first operation after those that are not undone again. */
  async redo(): Promise<void> {
    const operation = this.all.value[this.all.value.findLastIndex(({ isUndone }) => !isUndone) + 1];
    if (operation) await this.reverse(operation);
  }

  /** Undoes an operation, or does an undone one again. */
  async reverse(operation: Operation): Promise<void> {
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
      const report = (change: Change, result: Change | Failure) => {
        results.set(change, result);
        this.#showDone(results.size);
      };
      const writer = await this.loadWriter();
      await writer.write(changes, report, stop);
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
