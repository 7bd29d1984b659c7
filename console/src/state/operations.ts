import { batch, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Book, BookChange, BookClient } from 'bookkeeping-client/index.ts';
import { fieldsOf } from 'bookkeeping-formats/row.ts';
import { type BookList, bookOf, type Change } from './book-list.ts';
import type { BookWriter } from './book-writer.ts';
import type { Connection } from './connection.ts';
import type { History } from './history.ts';
import type { Failure, Selection } from './selection.ts';

/** The limit of an operation, which has its books in memory, with their former versions for the undo. */
export const OPERATION_BOOKS_MAX = 100_000;

type OperationKind = 'added' | 'edited' | 'deleted' | 'imported' | 'restored';

/** What the user has done, and can undo and do again. */
export interface Operation {
  readonly kind: OperationKind;
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

/** What the operations need of the console. */
interface ChangedBooks {
  readonly client: BookClient;
  readonly list: BookList;
  readonly selection: Selection;
  readonly isSignedIn: ReadonlySignal<boolean>;
  readonly history: History;
  readonly connection: Connection;
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
 * The operations of this session. Each is a list of changes; its inverse is the same list with `before` and `after` exchanged.
 * A book that another user has changed since is left as it is.
 */
export class Operations {
  /** Those that can be undone, the last one at the end; then those that were undone, the last of which is done again first. */
  readonly done = signal<readonly Operation[]>([]);
  readonly undone = signal<readonly Operation[]>([]);
  readonly progress = signal<Progress | undefined>(undefined);
  /** The operations that have made changes, by {@link changeKeyOf} what the log of changes has of them; the last one is last. */
  readonly #made = new Map<string, object[]>();
  /** The number of operations that run or wait. */
  readonly pending = signal(0);
  /** Incremented when something was stored. */
  readonly stored = signal(0);
  /** What the last operation has done, to tell the user. */
  readonly report = signal<Report | undefined>(undefined);
  readonly #app: ChangedBooks;
  readonly #loadWriter: () => Promise<BookWriter>;
  #controller = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(app: ChangedBooks) {
    this.#app = app;
    let writer: BookWriter | undefined;
    this.#loadWriter = async () => {
      // It is loaded with the code of the commands.
      const { BookWriter: Writer } = await import('./book-writer.ts');
      writer ??= new Writer(app.client, app.history, app.connection);
      return writer;
    };
    effect(() => {
      if (app.isSignedIn.value) return;
      this.stop();
      this.done.value = this.undone.value = [];
      this.#made.clear();
      this.report.value = undefined;
    });
  }

  /** Ends the running operation after its calls in flight, and those that wait for it. */
  stop(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
  }

  /** Makes changes, which are one operation. @param changes a function is called in its turn, when those before are made */
  run(kind: OperationKind, changes: readonly Change[] | (() => readonly Change[])): Promise<Report> {
    return this.#inTurn((stop) => this.#run(kind, typeof changes === 'function' ? changes() : changes, stop));
  }

  /** Changes the selected books. @param change what becomes of a book */
  async runSelected(kind: OperationKind, change: (book: Book) => Book | undefined): Promise<void> {
    const { list, selection } = this.#app;
    const total = selection.count.value;
    if (!selection.isCounted.value || total === 0 || total > OPERATION_BOOKS_MAX || this.progress.value)
      return;
    // Those that are selected now, not in its turn.
    const selected = selection.pages(this.#controller.signal);
    await this.#inTurn(async (stop) => {
      const books: Book[] = [];
      const error = await this.#attempt('reading', total, async () => {
        for await (const page of selected) {
          books.push(...page);
          this.#showDone(books.length);
        }
      });
      if (error !== undefined)
        this.#add(kind, { done: [], failures: [], left: [], error, isRenumbered: false });
      if (error !== undefined || stop.aborted) return;
      // What is changed stays selected for the next command.
      if (kind === 'deleted') selection.clear();
      const loaded = list.loaded.byId();
      const current = books.map((each) => loaded.get(each.id) ?? each);
      await this.#run(
        kind,
        current.map((before) => ({ before, after: change(before) })),
        stop,
      );
    });
  }

  /**
   * Makes the change of an edit.
   *
   * @param cancel ends its wait for the service
   * @returns what has become of it
   * @throws errors that are not about the book, and the reason of `cancel`
   */
  save(change: Change, cancel?: AbortSignal): Promise<Change | Failure> {
    return this.#inTurn(async () => {
      cancel?.throwIfAborted();
      const writer = await this.#loadWriter();
      const results: (Change | Failure)[] = [];
      await writer.write([change], (_, each) => results.push(each), cancel);
      const [result] = results;
      if (!result) throw cancel?.reason;
      if ('reason' in result) return result;
      const { list } = this.#app;
      if (change.before) list.apply([result]);
      else if (!result.after || !list.append(result.after)) void list.refresh();
      this.#remember([result], result);
      const kind = change.before ? 'edited' : 'added';
      this.#add(kind, { done: [result], failures: [], left: [], error: undefined, isRenumbered: false });
      return result;
    });
  }

  /** Replaces an import that continues, if it is not the first time. @returns the operation with its present changes */
  extend(operation: Operation | undefined, changes: readonly Change[]): Operation {
    const extended = { kind: 'imported', changes, isUndone: false } as const;
    this.#keep(extended, operation);
    return extended;
  }

  /** The operations of this session that have made this change, the first one first; none if another user has. */
  makersOf({ type, book }: Pick<BookChange, 'type' | 'book'>): readonly object[] {
    return this.#made.get(changeKeyOf(type === 'deleted', book)) ?? [];
  }

  /** Remembers what this session has changed. */
  #remember(changes: readonly Change[], maker: object): void {
    for (const change of changes) {
      const key = changeKeyOf(!change.after, change.after ?? bookOf(change));
      this.#made.set(key, [...(this.#made.get(key) ?? []), maker]);
    }
  }

  /** Undoes the last operation that is not undone. */
  undo(): Promise<void> {
    return this.#inTurn((stop) => this.#reverse(this.done.value.at(-1), stop));
  }

  /** Does again what was undone last. After another operation, there is nothing to do again. */
  redo(): Promise<void> {
    return this.#inTurn((stop) => this.#reverse(this.undone.value.at(-1), stop));
  }

  /** Undoes an operation, or does an undone one again. */
  reverse(operation: Operation): Promise<void> {
    return this.#inTurn((stop) => this.#reverse(operation, stop));
  }

  async #run(kind: OperationKind, changes: readonly Change[], stop: AbortSignal): Promise<Report> {
    return this.#add(kind, await this.#perform('writing', changes, stop));
  }

  /** Adds what was done as an operation. */
  #add(kind: OperationKind, result: Omit<Report, 'operation'>): Report {
    const operation = { kind, changes: result.done, isUndone: false };
    if (result.done.length > 0) {
      this.#keep(operation);
      this.stored.value++;
    }
    const report = { operation, ...result };
    this.report.value = report;
    return report;
  }

  /** Adds an operation, or replaces one. */
  #keep(operation: Operation, replaced?: Operation): void {
    this.done.value = [...this.done.value.filter((other) => other !== replaced), operation];
    this.undone.value = [];
  }

  async #reverse(operation: Operation | undefined, stop: AbortSignal): Promise<void> {
    const isRedo = operation?.isUndone;
    const [from, to] = isRedo ? [this.undone, this.done] : [this.done, this.undone];
    const index = operation ? from.value.indexOf(operation) : -1;
    // It may have been reversed meanwhile.
    if (!operation || index < 0) return;
    const orient = (changes: readonly Change[]) => (isRedo ? changes : inverseOf(changes));
    const result = await this.#perform(isRedo ? 'writing' : 'undoing', orient(operation.changes), stop);
    const { done, left } = result;
    const reversed = { ...operation, changes: orient(done), isUndone: !isRedo };
    const rest = left.length > 0 ? [{ ...operation, changes: orient(left) }] : [];
    if (done.length > 0) {
      from.value = from.value.toSpliced(index, 1, ...rest);
      to.value = [...to.value, reversed];
      this.stored.value++;
    }
    this.report.value = { operation: reversed, ...result };
  }

  /** Makes changes. Those that are not made are selected, with the reason if there is one for a single book. */
  async #perform(
    step: Progress['step'],
    changes: readonly Change[],
    stop: AbortSignal,
  ): Promise<Omit<Report, 'operation'>> {
    const results = new Map<Change, Change | Failure>();
    const error = await this.#attempt(step, changes.length, async () => {
      const report = (change: Change, result: Change | Failure) => {
        results.set(change, result);
        if (!('reason' in result)) this.#remember([result], results);
        this.#showDone(results.size);
      };
      const writer = await this.#loadWriter();
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
    return { done, failures, left, isRenumbered, error };
  }

  /** Gives books the numbers under which they were stored again, also in the operations before. */
  #renumber(numbers: ReadonlyMap<number, number>): boolean {
    const isNew = [...numbers].some(([before, after]) => before !== after && before !== 0);
    const renumbered = (book: Book | undefined) => book && { ...book, id: numbers.get(book.id) ?? book.id };
    for (const list of isNew ? [this.done, this.undone] : [])
      list.value = list.value.map((operation) => ({
        ...operation,
        changes: operation.changes.map(({ before, after }) => ({
          before: renumbered(before),
          after: renumbered(after),
        })),
      }));
    return isNew;
  }

  async #show(done: readonly Change[], failures: readonly Failure[], left: readonly Book[]): Promise<void> {
    const current = failures.flatMap(({ now }) => (now ? [{ before: now, after: now }] : []));
    const loaded = this.#app.list.loaded.byId();
    const deleted = done.flatMap(({ before, after }) => (before && !after ? [before] : []));
    // What changes places, and is not loaded, is read and counted anew.
    const isPlaced =
      done.some(({ before, after }) => !before && after) || deleted.some(({ id }) => !loaded.has(id));
    batch(() => {
      this.#app.list.apply([...done, ...current]);
      this.#app.selection.forget(deleted);
      const changed = done.flatMap(({ after }) => after ?? []);
      // What is left stays selected alone.
      if (failures.length + left.length > 0) this.#app.selection.set(changed, false);
      else this.#app.selection.update(changed);
      if (left.length + failures.length > 1 || this.#app.selection.count.value > 0)
        this.#app.selection.set([...failures.map(({ book }) => book), ...left], true);
      this.#app.selection.failures.value = new Map(failures.map((failure) => [failure.book.id, failure]));
    });
    if (isPlaced) await this.#app.list.reload();
    const [first] = done;
    if (first?.after && done.length === 1)
      await this.#app.list.reveal(first.after, { isNear: true, isLate: true });
  }

  #showDone(done: number): void {
    if (this.progress.value) this.progress.value = { ...this.progress.value, done };
  }

  /** Runs one operation after another, so that an undo knows those that were begun before. */
  #inTurn<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
    const { signal: stop } = this.#controller;
    this.pending.value++;
    const result = this.#last.then(() => work(stop)).finally(() => this.pending.value--);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Shows the progress of a step. @returns the error that ended it; undefined if there was none */
  async #attempt(step: Progress['step'], total: number, work: () => Promise<void>): Promise<unknown> {
    if (total > 1) this.progress.value = { step, done: 0, total };
    try {
      await work();
      return undefined;
    } catch (error) {
      // An aborted call is a stop, or a sign-out.
      return error instanceof DOMException ? undefined : error;
    } finally {
      this.progress.value = undefined;
    }
  }
}

/** What the log of changes has of a change of this session. */
function changeKeyOf(isDeleted: boolean, book: Book): string {
  return JSON.stringify([isDeleted, book.id, fieldsOf(book)]);
}

/** The changes that undo these, the last one first. */
function inverseOf(changes: readonly Change[]): readonly Change[] {
  return changes.map(({ before, after }) => ({ before: after, after: before })).toReversed();
}
