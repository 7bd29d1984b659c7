import { batch, computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import {
  type Book,
  type BookChange,
  type BookClient,
  type BookFields,
  type BookPage,
  type BookQuery,
  RefusedError,
} from 'bookkeeping-client/index.ts';
import type { Connection } from './connection.ts';
import { isSame } from './fields.ts';
import { LoadedPages, type MissingRows } from './loaded-pages.ts';
import { columnOf } from './sort.ts';
import { queryOf, type ShownView } from './view.ts';

/** What becomes of a book: without `before` it is created, without `after` deleted. */
export interface Change {
  readonly before: Book | undefined;
  readonly after: Book | undefined;
}

/** The book that a change is about. */
export function bookOf({ before, after }: Change): Book {
  return (before ?? after) as Book;
}

/** The largest page of the service. */
const PAGE_BOOKS = 1_000;
/** The first page is short, to fill a screen quickly. */
const FIRST_PAGE_BOOKS = 100;
/** The rows that are drawn below the loaded ones while the number of matches is unknown. */
const UNCOUNTED_ROWS = 1_000;
/** The rows that are drawn before the first page. */
const SKELETON_ROWS = 12;
/** The wait before the service is asked again after an error that names none. */
const RETRY_SECONDS = 5;
/** A number of matches that is not counted anew within this time is not shown. */
const COUNT_MS = 1_000;
/** A longer `Retry-After` may be an accident. */
const RETRY_SECONDS_MAX = 3_600;

interface ListedFrom {
  readonly client: BookClient;
  /** {@link client} without retries. */
  readonly onceClient: BookClient;
  readonly connection: Connection;
}

/** The books that match the view, of which some are loaded. */
export class BookList {
  /** Incremented when the loaded books change, as they are not a signal. */
  readonly revision = signal(0);
  /** Incremented when books change, and what was counted is outdated. */
  readonly countRevision = signal(0);
  /** The number of matches that the service has counted. */
  readonly counted = signal<number | undefined>(undefined);
  /** Whether the first page of the current query is being loaded. */
  readonly isLoading = signal(true);
  /** Whether the matches are being counted. */
  readonly isCounting = signal(false);
  /** Whether the service could not count the matches yet: {@link counted} may be of before a change of the books. */
  readonly isUncounted = signal(false);
  /** Why books could not be loaded; they are requested again by themselves, after `Retry-After` or 5 seconds. */
  readonly error = signal<unknown>(undefined);
  /** Whether there is no book to show; unchanged while the next query is loaded, so that buttons do not move. */
  readonly isEmpty = signal(false);
  /** The number of matches; undefined while it is unknown. */
  readonly total = computed(() => {
    void this.revision.value;
    if (this.loaded.isWhole) return this.loaded.end;
    const { value: counted } = this.counted;
    return this.#loadedQuery === undefined || counted === undefined || this.isUncounted.value
      ? undefined
      : Math.max(counted, this.loaded.count);
  });
  /** The number of rows, including those whose books are not loaded. */
  readonly rowCount = computed(() => {
    void this.revision.value;
    const { end, isAtEnd } = this.loaded;
    if (isAtEnd) return end;
    if (this.#loadedQuery === undefined) return SKELETON_ROWS;
    const { value: counted } = this.counted;
    return counted === undefined ? end + UNCOUNTED_ROWS : Math.max(counted, end + 1);
  });
  /** Whether the rows are those of another search than the current one, which is being loaded. */
  readonly isPending = computed(() => {
    void this.revision.value;
    return searchOf(this.#loadedQuery) !== searchOf(this.#address.query.value);
  });
  /** The row that the table shows next: with the focus, and as the first one or anywhere. */
  readonly target = signal<
    | {
        readonly row: number;
        readonly isFocused: boolean;
        readonly isFirst: boolean;
        /** Whether a text field keeps the focus, which the user has moved there meanwhile. */
        readonly isLate?: boolean;
      }
    | undefined
  >(undefined);
  /** The first and the last row in view. */
  readonly inView = signal({ first: 0, last: 0 });
  loaded = new LoadedPages();
  readonly #client: BookClient;
  /** For the pages and the count of the list, which it asks for again by itself. */
  readonly #onceClient: BookClient;
  readonly #connection: Connection;
  readonly #address: ShownView;
  /** The ids of deleted books, which pages may have that are being loaded. */
  readonly #deleted = new Set<number>();
  /** The ids of the books that this session has changed. */
  readonly #changed = new Set<number>();
  #controller = new AbortController();
  /** The query of the loaded books. */
  #loadedQuery: string | undefined;
  #firstRow: number;
  #requestedRows = { start: 0, end: 0 };
  #reloaded = Promise.resolve();
  /** The books that were appended since the list was requested, whose page may lack them. */
  #appended: Book[] = [];
  /** Whether a request for books waits for its response. */
  #isFetching = false;

  /**
   * @param isSignedIn whether there is a session, without which no book is shown
   * @param firstRow the row with which the first query begins
   */
  constructor(
    { client, onceClient, connection }: ListedFrom,
    address: ShownView,
    isSignedIn: ReadonlySignal<boolean>,
    firstRow = 0,
  ) {
    this.#firstRow = firstRow;
    this.#client = client;
    this.#onceClient = onceClient;
    this.#connection = connection;
    this.#address = address;
    effect(() => {
      if (this.error.value !== undefined) this.isEmpty.value = false;
      else if (this.total.value !== undefined) this.isEmpty.value = this.total.value === 0;
    });
    effect(() => {
      void address.query.value;
      if (isSignedIn.value) void untracked(() => this.reload());
      else {
        this.#controller.abort();
        this.#deleted.clear();
        this.#changed.clear();
        untracked(() => this.#clear());
      }
    });
  }

  /** The book of a row, from 0; undefined when it is not loaded. */
  at(row: number): Book | undefined {
    return this.loaded.at(row);
  }

  /** Loads the books of these rows. */
  loadRows(start: number, end: number): void {
    this.#requestedRows = { start, end };
    if (!this.#isFetching && !this.isLoading.value && this.error.value === undefined)
      void this.#fetchRequestedRows(this.#controller.signal);
  }

  /** Loads the visible rows of the current query. The loaded books stay until the response arrives, also after an error. */
  reload(): Promise<void> {
    this.#reloaded = this.#load();
    return this.#reloaded;
  }

  async #load(): Promise<void> {
    this.#controller.abort();
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.isLoading.value = true;
    this.#isFetching = true;
    this.#appended = [];
    const { value: key } = this.#address.query;
    const query = JSON.parse(key) as BookQuery;
    const isReload = key === this.#loadedQuery;
    // The books may have changed.
    const timer = isReload ? this.#markUncountedSoon(abort) : undefined;
    try {
      const firstRow = isReload ? 0 : this.#firstRow;
      const read = (from: number) => {
        const offset = from === 0 ? undefined : from;
        return this.firstPage({ ...query, limit: FIRST_PAGE_BOOKS, offset }, abort, this.#onceClient);
      };
      let start = isReload ? this.#requestedRows.start : firstRow;
      let page = await read(start);
      if (firstRow > 0 && page.books.length === 0) {
        start = 0;
        page = await read(start);
      }
      this.#firstRow = 0;
      this.#isFetching = false;
      batch(() => {
        this.#clear();
        // The list keeps its height until the books are counted.
        if (!isReload) {
          this.counted.value = undefined;
          this.isUncounted.value = false;
        }
        this.#loadedQuery = key;
        this.#add({ start, after: undefined }, page);
        for (const book of this.#appended) this.#append(book);
        this.isLoading.value = false;
        this.error.value = undefined;
        if (firstRow > 0 && start > 0) this.target.value = { row: start, isFocused: false, isFirst: true };
      });
    } catch (error) {
      if (abort.aborted) return;
      this.#isFetching = false;
      batch(() => {
        this.error.value = error;
        if (key === this.#loadedQuery) this.isLoading.value = false;
        if (isReload && error instanceof RefusedError) this.isUncounted.value = true;
      });
      this.#askAgain(error, abort, () => this.retry());
      return;
    } finally {
      clearTimeout(timer);
    }
    await this.#countMatches(query, abort);
  }

  /** Counts the matches, if need be in several attempts: the books are shown meanwhile. */
  async #countMatches(query: BookQuery, abort: AbortSignal): Promise<void> {
    this.isCounting.value = true;
    const timer = this.#markUncountedSoon(abort);
    try {
      const count = await this.count(query, abort, this.#onceClient);
      batch(() => {
        this.counted.value = count;
        this.isCounting.value = this.isUncounted.value = false;
      });
    } catch (error) {
      if (!abort.aborted) this.isUncounted.value = true;
      this.#askAgain(error, abort, () => void this.#countMatches(query, abort));
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns the timer, which is cleared when the books are counted anew in time */
  #markUncountedSoon(abort: AbortSignal): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      if (!abort.aborted) this.isUncounted.value = true;
    }, COUNT_MS);
  }

  /** Calls a function when the service may respond again, unless the books are loaded anew before. */
  #askAgain(error: unknown, abort: AbortSignal, ask: () => void): void {
    if (abort.aborted) return;
    if (this.#connection.note(error)) {
      void this.#askWhenBack(abort, ask);
      return;
    }
    const { retryAfterSeconds = RETRY_SECONDS } = error instanceof RefusedError ? error : {};
    const seconds = Math.min(Math.max(1, retryAfterSeconds), RETRY_SECONDS_MAX);
    const timer = setTimeout(ask, seconds * 1_000);
    abort.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  async #askWhenBack(abort: AbortSignal, ask: () => void): Promise<void> {
    await this.#connection.back(abort);
    if (!abort.aborted) ask();
  }

  /** Loads the books again after an error, at once; while a request waits for its response, that one is enough. */
  retry(): void {
    if (!this.#isFetching) void this.reload();
  }

  /** Loads and counts the books again, after some were added. */
  async refresh(): Promise<void> {
    this.countRevision.value++;
    await this.reload();
  }

  async firstPage(query: BookQuery, abort?: AbortSignal, client = this.#client): Promise<BookPage> {
    abort?.throwIfAborted();
    const { value } = await client.list(query, { signal: abort }).pages().next();
    abort?.throwIfAborted();
    return value ?? { books: [], total: undefined, offset: undefined, next: undefined };
  }

  /** The number of books that match a query; its order does not matter. */
  async count(query: BookQuery, abort?: AbortSignal, client = this.#client): Promise<number | undefined> {
    return (await this.firstPage({ ...query, sort: 'id', limit: 1, count: true }, abort, client)).total;
  }

  /** All books of a query, by default of the current one, page by page. */
  async *pages(
    abort: AbortSignal,
    query: BookQuery = queryOf(this.#address.view.value),
  ): AsyncGenerator<readonly Book[], void> {
    for await (const { books } of this.#client
      .list({ ...query, limit: PAGE_BOOKS }, { signal: abort })
      .pages())
      yield books;
  }

  /** The books of rows, which are read if they are not loaded. */
  async readRows(start: number, end: number, abort = new AbortController().signal): Promise<readonly Book[]> {
    const books: Book[] = [];
    const query = { ...queryOf(this.#address.view.value), offset: start };
    for await (const page of this.pages(abort, query)) {
      books.push(...page);
      if (books.length >= end - start) break;
    }
    return books.slice(0, end - start);
  }

  /**
   * Loads the first books from a text or a number on, in the order of the list.
   *
   * @param id the book whose row is wanted, if it is among them
   * @returns its row or that of the first of them, or the last row
   */
  async findRow(from: string | number, abort?: AbortSignal, id?: number): Promise<number> {
    await this.#reloaded;
    const query = { ...queryOf(this.#address.view.value), from, limit: FIRST_PAGE_BOOKS, count: true };
    const page = await this.firstPage(query, abort);
    const { offset = 0, books } = page;
    if (books.length > 0) this.#add({ start: offset, after: undefined }, page);
    const place = books.findIndex((book) => book.id === id);
    return Math.min(offset + Math.max(0, place), this.rowCount.value - 1);
  }

  /** Shows a book, if the list has it. @param isNear only if it is loaded @param isLate whether a text field keeps the focus */
  async reveal(
    book: Book,
    {
      isNear = false,
      isFocused = true,
      isLate = false,
      abort,
    }: { isNear?: boolean; isFocused?: boolean; isLate?: boolean; abort?: AbortSignal } = {},
  ): Promise<void> {
    await this.#reloaded;
    let row = this.loaded.rowOf(book.id);
    if (row === undefined && !isNear) {
      row = await this.findRow(book[columnOf(this.#address.view.value.sort)], abort, book.id);
      if (this.at(row)?.id !== book.id) row = undefined;
    }
    if (row !== undefined) this.target.value = { row, isFocused, isFirst: !isFocused, isLate };
  }

  /** Shows changes of books without moving other rows: new books are shown after {@link refresh}. */
  apply(changes: readonly Change[]): void {
    batch(() => {
      const changed = new Map<number, Book>();
      const deleted = new Set<number>();
      for (const change of changes) {
        const { before, after } = change;
        this.#changed.add(bookOf(change).id);
        if (after) changed.set(after.id, after);
        else if (before) deleted.add(before.id);
      }
      this.replace(changed);
      this.remove(deleted);
      this.revision.value++;
      this.countRevision.value++;
    });
  }

  /** Shows other versions of books. @returns the ids of those that are loaded */
  replace(books: ReadonlyMap<number, Book>): ReadonlySet<number> {
    for (const id of books.keys()) this.#deleted.delete(id);
    const rows = this.loaded.change(books);
    return new Set(rows.keys());
  }

  /** Adds a stored book where no other moves: at the end of the list. @returns whether it is there */
  append(book: Book): boolean {
    this.#appended.push(book);
    return this.#append(book);
  }

  #append(book: Book): boolean {
    const { loaded, counted } = this;
    if (loaded.rowOf(book.id) !== undefined) return true;
    const isById = !this.#address.isSearch.value && this.#address.view.value.sort === 'id';
    const isLast = (loaded.pages.at(-1)?.books.at(-1)?.id ?? 0) < book.id;
    if (!isById || !loaded.isAtEnd || !isLast) return false;
    batch(() => {
      loaded.append(book);
      if (counted.value !== undefined) counted.value++;
      this.revision.value++;
      this.countRevision.value++;
    });
    return true;
  }

  /** Whether changes that the service reports may be older than those that this session has made of the same books. */
  mayBeOld(changes: readonly BookChange[]): boolean {
    const own = changes.filter(({ book }) => this.#changed.has(book.id));
    if (own.length === 0) return false;
    const loaded = this.loaded.byId();
    return own.some(({ type, book }) => {
      if (type === 'deleted') return !this.#deleted.has(book.id);
      const listed = loaded.get(book.id);
      return listed !== undefined && !isSame<BookFields>(listed, book);
    });
  }

  /** Removes deleted books. @param isMatch whether a book that is not loaded has been counted */
  remove(ids: ReadonlySet<number>, isMatch: (id: number) => boolean = () => false): void {
    const rows = this.loaded.remove(ids);
    for (const id of ids) {
      const isCounted = !this.#deleted.has(id) && (rows.has(id) || isMatch(id));
      if (isCounted && this.counted.value !== undefined) this.counted.value--;
      this.#deleted.add(id);
    }
  }

  #clear(): void {
    this.loaded = new LoadedPages();
    this.#loadedQuery = undefined;
    this.revision.value++;
  }

  /** Adds books that were read from a row, or after the loaded ones before a cursor. */
  #add(rows: Pick<MissingRows, 'start' | 'after'>, { books, next }: Pick<BookPage, 'books' | 'next'>): void {
    this.loaded.add(rows, { books: books.filter(({ id }) => !this.#deleted.has(id)), next });
    this.revision.value++;
  }

  async #fetchRequestedRows(abort: AbortSignal): Promise<void> {
    this.#isFetching = true;
    try {
      for (;;) {
        const { start, end } = this.#requestedRows;
        const missing = this.loaded.missing(start, Math.min(end, this.rowCount.value));
        if (!missing) break;
        const { after, limit } = missing;
        const query = queryOf(this.#address.view.value);
        const offset = after === undefined ? missing.start : undefined;
        const page = await this.firstPage({ ...query, limit, after, offset }, abort, this.#onceClient);
        const isBehindEnd = offset !== undefined && page.books.length === 0 && page.next === undefined;
        const matches = isBehindEnd ? await this.count(query, abort).catch(() => undefined) : undefined;
        batch(() => {
          if (isBehindEnd) this.counted.value = Math.min(offset, matches ?? offset);
          this.#add(missing, page);
          this.error.value = undefined;
        });
      }
    } catch (error) {
      if (abort.aborted) return;
      this.error.value = error;
      this.#askAgain(error, abort, () => this.retry());
    } finally {
      if (!abort.aborted) this.#isFetching = false;
    }
  }
}

/** A query without its order. */
function searchOf(key: string | undefined): string | undefined {
  return key && JSON.stringify({ ...(JSON.parse(key) as BookQuery), sort: undefined });
}
