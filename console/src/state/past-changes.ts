import { computed, signal } from '@preact/signals';
import {
  type Book,
  type BookChange,
  type BookClient,
  type BookFields,
  RefusedError,
} from 'bookkeeping-client/index.ts';
import type { Change } from './book-list.ts';
import { isSame } from './fields.ts';
import { OPERATION_BOOKS_MAX, type Operations, type Report } from './operations.ts';
import type { Failure } from './selection.ts';

/** Each step reads at least as many lines, if there are, but not more than as many changes, those of one line. */
const LINES_MIN = 30;
const STEP_CHANGES_MAX = OPERATION_BOOKS_MAX;
/** What is read before the first lines are shown; then it is always as much as before, as each time all are grouped. */
const PAGE_CHANGES = 1_000;
/** What so many books were is found by reading on, which takes less time than a request for each, up to as many changes for each. */
const READ_ON_BOOKS_MIN = 100;
const READ_ON_CHANGES = 150;
/** What is read on at once. */
const READ_ON_STEP = 20_000;
/**
 * The longest time between two changes of one request. The log does not say which changes are of one request, nor their authors: two
 * users at the same moment may be in one line, which therefore names their books.
 */
const PAUSE_MS = 100;
/** The states of books that are read at once. */
const CONCURRENCY = 5;

/** Changes of one type and of different books, as a request for many books makes them; the last is first. */
export type ChangeGroup = readonly [BookChange, ...BookChange[]];

/**
 * Groups changes, of which the last is first: those of an operation of this session, and others that follow each other at once.
 *
 * @param makersOf the operations that have made such a change, the first one first
 */
export function groupChanges(
  changes: readonly BookChange[],
  makersOf: (change: BookChange) => readonly object[] = () => [],
): ChangeGroup[] {
  const groups: [BookChange, ...BookChange[]][] = [];
  let ids = new Set<number>();
  let maker: object | undefined;
  /** How many changes by an operation are before this one, for each list of makers. */
  const known = new Map<readonly object[], number>();
  for (const change of changes) {
    const group = groups.at(-1);
    const later = group?.at(-1);
    const makers = makersOf(change);
    const count = known.get(makers) ?? 0;
    known.set(makers, count + 1);
    const before = maker;
    maker = makers.at(-1 - count);
    const isNext =
      later?.type === change.type &&
      maker === before &&
      (maker !== undefined || Date.parse(later.at) - Date.parse(change.at) <= PAUSE_MS) &&
      !ids.has(change.book.id) &&
      ids.size < OPERATION_BOOKS_MAX;
    if (group && isNext) group.push(change);
    else groups.push([change]);
    ids = isNext ? ids.add(change.book.id) : new Set([change.book.id]);
  }
  return groups;
}

/** What has happened to all books, or to one, the last change first, as far as it is read. */
export class PastChanges {
  readonly state = signal<'loading' | 'more' | 'complete' | 'failed'>('loading');
  readonly error = signal<unknown>(undefined);
  readonly changes = signal<readonly BookChange[]>([]);
  readonly groups = computed(() => {
    const { value: changes } = this.changes;
    return this.#id === undefined
      ? groupChanges(changes, (change) => this.#operations.makersOf(change))
      : changes.map((change): ChangeGroup => [change]);
  });
  /** The changes of each book, the last one first. */
  readonly #ofBooks = computed(() => Map.groupBy(this.changes.value, ({ book }) => book.id));
  readonly #client: BookClient;
  readonly #operations: Operations;
  readonly #id: number | undefined;
  #controller = new AbortController();
  #iterator: AsyncIterator<BookChange> | undefined;

  /** @param id of the book; undefined for all books */
  constructor(app: { readonly client: BookClient; readonly operations: Operations }, id?: number) {
    this.#client = app.client;
    this.#operations = app.operations;
    this.#id = id;
  }

  /** Reads the first step, which replaces what is shown. */
  load(): Promise<void> {
    this.close();
    this.#controller = new AbortController();
    this.#iterator = this.#read();
    return this.#add([]);
  }

  /** Reads the next step. */
  more(): Promise<void> {
    return this.#add(this.changes.value);
  }

  /** Reads what has happened since. */
  async refresh(): Promise<void> {
    const [last] = this.changes.value;
    if (!last || this.state.value === 'loading') return this.load();
    const { signal: abort } = this.#controller;
    const later: BookChange[] = [];
    try {
      for await (const change of this.#read()) {
        if (change.cursor === last.cursor) break;
        if (later.push(change) > STEP_CHANGES_MAX) return this.load();
      }
      // Another call may have been faster.
      if (!abort.aborted && this.changes.value[0] === last)
        this.changes.value = [...later, ...this.changes.value];
    } catch {
      // The next change is another occasion.
    }
  }

  close(): void {
    this.#controller.abort();
  }

  /** Whether a group may have further changes, which are not read yet. */
  isOpen(group: ChangeGroup): boolean {
    return this.state.value !== 'complete' && group === this.groups.value.at(-1);
  }

  /** Whether a group is known to be of one user, as it is of this session. */
  isOwn([change]: ChangeGroup): boolean {
    return this.#operations.makersOf(change).length > 0;
  }

  /** Whether the book is as a change has left it. */
  isNow({ type, book }: BookChange): boolean {
    const [last] = this.#ofBooks.value.get(book.id) ?? [];
    return (
      last !== undefined &&
      (type === 'deleted') === (last.type === 'deleted') &&
      isSame<BookFields>(last.book, book)
    );
  }

  /**
   * Whether a change can be undone: {@link isNow}. A book to which more has happened was not just added, and of one whose first known
   * change is an update, it is not known what it was.
   */
  canUndo(change: BookChange): boolean {
    const known = this.#ofBooks.value.get(change.book.id) ?? [];
    const isUnknown = this.state.value === 'complete' && change === known.at(-1);
    return (
      this.isNow(change) && !{ created: change !== known[0], updated: isUnknown, deleted: false }[change.type]
    );
  }

  /** What a book was before a change; undefined when it was not there, or nothing is known. */
  async before(change: BookChange): Promise<Book | undefined> {
    if (change.type === 'created') return undefined;
    if (change.type === 'deleted') return change.book;
    const { id } = change.book;
    const known = this.#ofBooks.value.get(id) ?? [];
    const index = known.findIndex(({ cursor }) => cursor === change.cursor);
    if (known[index + 1] || this.state.value === 'complete') return known[index + 1]?.book;
    const { value } = await this.#client
      .history(id, { after: change.cursor, signal: this.#controller.signal })
      .next();
    return (value as BookChange | undefined)?.book;
  }

  /** Undoes the changes of a group, where books are as they have left them. What a book was may not be known any more. */
  async undo(group: ChangeGroup): Promise<Report> {
    const [{ cursor, type }] = group;
    let whole = group;
    while (this.isOpen(whole) && this.state.value === 'more') {
      await this.more();
      whole = this.groups.value.find(([first]) => first.cursor === cursor) ?? group;
    }
    if (type === 'updated') await this.#readOn(whole);
    const undone: Change[] = [];
    const unknown: Failure[] = [];
    const queue = whole.filter((change) => this.canUndo(change)).values();
    const addAll = async () => {
      for (const change of queue) {
        const { book } = change;
        const before = await this.before(change);
        if (type === 'created') undone.push({ before: book, after: undefined });
        else if (before)
          undone.push({ before: type === 'deleted' ? undefined : book, after: { ...before, id: book.id } });
        else unknown.push({ book, reason: 'unknown' });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, addAll));
    const report = await this.#operations.run(UNDOING[type], undone);
    return { ...report, failures: [...report.failures, ...unknown] };
  }

  /** Makes a book what it was after a change. */
  restore({ book }: BookChange): Promise<Report> {
    const [last] = this.#ofBooks.value.get(book.id) ?? [];
    const before = last?.type === 'deleted' ? undefined : last?.book;
    return this.#operations.run('restored', [{ before, after: book }]);
  }

  /** Reads on for what the books of a group were, if they are many. */
  async #readOn(group: ChangeGroup): Promise<void> {
    const isUnknown = ({ book, cursor }: BookChange) =>
      this.#ofBooks.value.get(book.id)?.at(-1)?.cursor === cursor;
    let unknown = group.filter(isUnknown);
    const end = this.changes.value.length + READ_ON_CHANGES * unknown.length;
    while (unknown.length >= READ_ON_BOOKS_MIN && this.state.value === 'more') {
      if (this.changes.value.length >= end) return;
      await this.#add(this.changes.value, READ_ON_STEP);
      unknown = unknown.filter(isUnknown);
    }
  }

  #read(): AsyncIterableIterator<BookChange> {
    const { signal: abort } = this.#controller;
    return this.#id === undefined
      ? this.#client.lastChanges({ signal: abort })
      : this.#client.history(this.#id, { signal: abort });
  }

  /** @param stepMin the fewest changes to read, if there are */
  async #add(before: readonly BookChange[], stepMin = 0): Promise<void> {
    const { signal: abort } = this.#controller;
    const linesMin = LINES_MIN + (before.length === 0 ? 0 : this.groups.value.length);
    const changes = [...before];
    this.state.value = 'loading';
    try {
      let isEnd = false;
      while (!isEnd) {
        const next = Math.max(changes.length + PAGE_CHANGES, 2 * changes.length - before.length);
        while (changes.length < next && !isEnd) {
          const { done, value } = (await this.#iterator?.next()) ?? { done: true };
          isEnd = done === true;
          if (!done) changes.push(value);
        }
        if (abort.aborted) return;
        this.changes.value = [...changes];
        const read = changes.length - before.length;
        if (read >= STEP_CHANGES_MAX || (read >= stepMin && this.groups.value.length > linesMin)) break;
      }
      this.state.value = isEnd ? 'complete' : 'more';
    } catch (error) {
      if (abort.aborted) return;
      // Nothing is known of the book.
      const isUnknown = error instanceof RefusedError && error.status === 404;
      if (!isUnknown) this.error.value = error;
      this.state.value = isUnknown ? 'complete' : 'failed';
    }
  }
}

/** What undoing a change does. */
const UNDOING = { created: 'deleted', updated: 'edited', deleted: 'restored' } as const;
