import assert from 'node:assert/strict';
import { type BookStore, type ListPage, StoreUnavailable, type UpdateFault } from '../src/book/book-store.ts';
import type { UpdateItem } from '../src/book/book-update.ts';
import type { Book } from '../src/book/contract.ts';
import type { BookPosition, BookSearch, SearchQuery } from '../src/search/book-search.ts';
import { openSearch } from '../src/search/open-search.ts';
import { parseStoreAddress } from '../src/store/address.ts';
import type { BookArchive } from '../src/store/book-archive.ts';
import type { Engine, OpenStore } from '../src/store/engine.ts';
import { StoreNotReady } from '../src/store/errors.ts';
import { loadEngine } from '../src/store/load-engine.ts';
import { NO_OBSERVER } from './no-observer.ts';

/** The engine of a `DB_URL`. */
export function engineAt(dbUrl: string): Promise<Engine> {
  return loadEngine(parseStoreAddress(dbUrl));
}

/** A store with its searches. */
export type SearchableStore = OpenStore & Pick<BookSearch, 'search' | 'count'>;

/** Opens the store of a `DB_URL`, and the searches in it. */
export async function openStoreAt(dbUrl: string, observer = NO_OBSERVER): Promise<SearchableStore> {
  const store = await (await engineAt(dbUrl)).openStore(observer);
  const searches = await openSearch(store.connection, observer);
  const close = store[Symbol.asyncDispose].bind(store);
  return Object.assign(store, {
    search: (...call: Parameters<BookSearch['search']>) => whenIndexed(() => searches.search(...call)),
    count: (...call: Parameters<BookSearch['count']>) => whenIndexed(() => searches.count(...call)),
    async [Symbol.asyncDispose]() {
      await searches[Symbol.asyncDispose]();
      await close();
    },
  });
}

const ATTEMPTS_MAX = 50;

/** Repeats a search while the index is not ready, which takes longer on a busy machine. */
export async function whenIndexed<Result>(search: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await search();
    } catch (error) {
      const isBehind =
        error instanceof StoreUnavailable && error.detail?.startsWith('The search is being prepared');
      if (!isBehind || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** The number of all matches, in as many calls as that takes: on a slow machine, the time of the first one is up before. */
export async function countAll(
  store: Pick<BookSearch, 'count'>,
  query: SearchQuery,
  after?: BookPosition,
): Promise<number> {
  const { count, last } = await store.count(query, after);
  return last ? count + (await countAll(store, query, last)) : count;
}

/** The first matches, in as many calls as that takes: on a slow machine, the time of the first one is up before. */
export async function searchAll(
  store: Pick<BookSearch, 'search'>,
  query: SearchQuery,
  limit: number,
  after?: BookPosition,
): Promise<Book[]> {
  const page = await store.search(query, limit, after);
  const books = JSON.parse(`[${textOf(page)}]`) as Book[];
  if (page.more !== 'unknown' || page.count === limit) return books;
  const rest = await searchAll(store, { ...query, skip: page.skip }, limit - page.count, page.last);
  return [...books, ...rest];
}

/** Opens the store of a `DB_URL` as an archive. */
export async function openArchiveAt(dbUrl: string): Promise<BookArchive> {
  return (await engineAt(dbUrl)).openArchive();
}

/** Joins the JSON of all pages of the list. */
export async function renderList(store: BookStore): Promise<string> {
  const pages: string[] = [];
  let after: number | undefined;
  do {
    const page = await store.list(after);
    if (page.json.length > 0) pages.push(textOf(page));
    after = page.last;
  } while (after !== undefined);
  return `[${pages.join(',')}]`;
}

/** The JSON of a page. */
export function textOf({ json }: Pick<ListPage, 'json'>): string {
  return new TextDecoder().decode(json);
}

/** Stores several arrays of books in one call. @returns the stored books */
export async function createMany(
  store: BookStore,
  ...arrays: readonly (readonly unknown[])[]
): Promise<Book[]> {
  return parsePages((await store.createMany(arrays.map(toJson))) ?? []) as Book[];
}

/** The same with an idempotency key. @returns undefined when the key was used for other books */
export async function createManyOnce(
  store: BookStore,
  key: string,
  ...arrays: readonly (readonly unknown[])[]
): Promise<Book[] | undefined> {
  const pages = await store.createMany(arrays.map(toJson), key);
  return pages && (parsePages(pages) as Book[]);
}

/** Changes books by several arrays in one call. @returns the stored books, with null for deleted ones, or the fault */
export async function updateMany(
  store: BookStore,
  ...arrays: readonly (readonly UpdateItem[])[]
): Promise<(Book | null)[] | UpdateFault> {
  const result = await store.updateMany(arrays.map(toJson));
  return 'fault' in result ? result : parsePages(result);
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function parsePages(pages: readonly Uint8Array[]): (Book | null)[] {
  const parts = pages.filter(({ length }) => length > 0).map((json) => textOf({ json }));
  return JSON.parse(`[${parts.join(',')}]`) as (Book | null)[];
}

/** All books of the list. */
export async function listBooks(store: BookStore): Promise<Book[]> {
  return JSON.parse(await renderList(store)) as Book[];
}

/** Asserts that values have the same JSON, including the order of fields. */
export function assertSameJson(actual: unknown, expected: unknown): void {
  assert.equal(JSON.stringify(actual), JSON.stringify(expected));
}

/** Asserts that the store does not open, with an error of one line without the password. */
export async function assertNotReady(dbUrl: string, pattern: RegExp): Promise<void> {
  await assert.rejects(openStoreAt(dbUrl), (error) => {
    assert.ok(error instanceof StoreNotReady, String(error));
    assert.match(error.message, pattern);
    assert.doesNotMatch(error.message, /\n/);
    const password = /^postgres:\/\/[^:@]*:([^@]+)@/.exec(dbUrl)?.[1];
    assert.ok(password === undefined || !error.message.includes(password));
    return true;
  });
}
