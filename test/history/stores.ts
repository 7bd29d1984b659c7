import { StoreUnavailable } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import type {
  BookHistory,
  Change,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  RestoreFault,
} from '../../src/history/book-history.ts';
import { openHistory } from '../../src/history/open-history.ts';
import type { StoreObserver } from '../../src/store/observer.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';
import { openStoreAt, type SearchableStore } from '../../testkit/stores.ts';

export const DUNE = { title: 'Dune', author: 'Frank Herbert', year: 1965 };

export interface RecordedStore extends AsyncDisposable {
  readonly store: SearchableStore;
  readonly history: BookHistory;
}

/** Opens the store of a `DB_URL`, and its history, which is recorded. */
export async function openWithHistory(
  dbUrl: string,
  { days = 90, observer = NO_OBSERVER }: { readonly days?: number; readonly observer?: StoreObserver } = {},
): Promise<RecordedStore> {
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await openStoreAt(dbUrl, observer));
  const history = opened.use(await openHistory(store.connection, days, observer));
  if (!history) throw new Error('the store has no history');
  const resources = opened.move();
  return { store, history, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Opens the store of a `DB_URL`, whose history is turned off. */
export async function openWithoutHistory(dbUrl: string): Promise<SearchableStore> {
  const store = await openStoreAt(dbUrl);
  await openHistory(store.connection, undefined, NO_OBSERVER);
  return store;
}

/** A page of changes; rejects with the fault of the cursor. */
export async function readPage(
  history: BookHistory,
  request: Partial<ChangeRequest> = {},
): Promise<ChangePage> {
  const page = await history.read({ limit: 100, ...request });
  if (typeof page === 'string') throw new Error(`the cursor is ${page}`);
  return page;
}

/** All changes after a cursor, in pages of two. */
export async function readAll(history: BookHistory, after?: ChangeCursor): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = after; ; ) {
    const page = await readPage(history, { after: cursor, limit: 2 });
    if (page.changes.length === 0) return changes;
    changes.push(...page.changes);
    cursor = page.next;
  }
}

/** Restores a book. @returns why it was not restored */
export async function restore(
  history: BookHistory,
  id: number,
  cursor?: ChangeCursor,
): Promise<Book | RestoreFault['fault'] | undefined> {
  const result = await history.restore({ deletions: [{ id, cursor }] });
  return 'fault' in result ? result.fault : result[0];
}

/** For example `created 1 Dune 1965`. */
export function describeChanges(changes: readonly Change[]): string[] {
  return changes.map(({ type, book, gapAfter }) =>
    [type, book.id, book.title, book.year, ...(gapAfter ? ['gap'] : [])].join(' '),
  );
}

/** Repeats an operation while the store is unavailable. */
export async function whenAvailable<Result>(operation: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
