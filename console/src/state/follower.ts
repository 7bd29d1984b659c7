import { batch, computed, effect, type ReadonlySignal } from '@preact/signals';
import {
  type BookChange,
  type BookClient,
  ChangesRemovedError,
  RefusedError,
} from '../../../src/client/index.ts';
import type { BookList } from './book-list.ts';
import type { History } from './history.ts';
import type { Selection } from './selection.ts';
import { queryOf, type ShownView } from './view.ts';

/** After as many changes at once, the list is read anew. */
const CHANGES_MAX = 1_000;
/** The time for further changes, which are shown together. */
const COLLECT_MS = 100;
/** The least time until the service is asked again after a failure, or the list read anew after too many changes. */
const PAUSE_MS = 5_000;
/** The books are counted at most this often. */
const COUNT_MS = 5_000;

interface FollowedBooks {
  readonly client: BookClient;
  readonly list: BookList;
  readonly address: ShownView;
  readonly selection: Selection;
  readonly history: History;
  /** Whether the user sees the page. */
  readonly isVisible: ReadonlySignal<boolean>;
}

/** Shows what others change, as long as the page is visible, until {@link Follower.close}. */
export class Follower {
  readonly #app: FollowedBooks;
  readonly #closed = new AbortController();
  /** The cursor of the last change that was received; undefined when the list has to be read anew. */
  #cursor: string | undefined;
  #collected: BookChange[] = [];
  /** When the list was last read anew, and the books were last counted, by the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;
  #countedAt = Number.NEGATIVE_INFINITY;
  #isCountPlanned = false;

  /** @param features the URL that says whether there is a history; a restart of the service is needed to change it */
  constructor(app: FollowedBooks, features: URL) {
    this.#app = app;
    const { signal: closed } = this.#closed;
    const { history, list } = app;
    void this.#ask(features);
    const isFollowing = computed(() => app.isVisible.value && history.isKept.value);
    const effects = [
      effect(() => {
        if (list.isLoading.value) history.newBooks.value = 0;
      }),
      effect(() => {
        if (!isFollowing.value) return undefined;
        const controller = new AbortController();
        void this.#follow(controller.signal);
        return () => controller.abort();
      }),
    ];
    closed.addEventListener('abort', () => {
      for (const stop of effects) stop();
    });
  }

  close(): void {
    this.#closed.abort();
  }

  async #ask(features: URL): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        const response = await fetch(features);
        this.#app.history.isKept.value = ((await response.json()) as { history: boolean }).history;
        return;
      } catch {
        await sleep(PAUSE_MS, this.#closed.signal);
      }
    }
  }

  async #follow(abort: AbortSignal): Promise<void> {
    while (!abort.aborted) {
      let pauseMs = PAUSE_MS * (1 + Math.random());
      try {
        await this.#receive(abort);
        pauseMs = this.#readAt + PAUSE_MS - performance.now();
      } catch (error) {
        const status = error instanceof RefusedError ? error.status : undefined;
        // The history was turned off.
        if (status === 404) return;
        // Changes are missing, or the service has another store.
        if (error instanceof ChangesRemovedError || status === 400) this.#cursor = undefined;
      }
      if (!abort.aborted) await sleep(pauseMs, abort);
    }
  }

  /** Receives changes until they are too many at once. */
  async #receive(abort: AbortSignal): Promise<void> {
    if (this.#cursor === undefined) {
      this.#readAt = performance.now();
      this.#cursor = await this.#app.client.newestCursor({ signal: abort });
      // Shows what has changed between the books that were loaded and the cursor.
      void this.#app.list.reload();
    }
    for await (const change of this.#app.client.changes({ after: this.#cursor, signal: abort })) {
      this.#cursor = change.cursor;
      if (this.#collected.push(change) === 1) setTimeout(() => this.#showCollected(), COLLECT_MS);
      if (this.#collected.length > CHANGES_MAX) break;
    }
    this.#collected = [];
    this.#cursor = undefined;
  }

  /** Changes the loaded books as the service has changed them. Only their own rows move. */
  #showCollected(): void {
    const changes = this.#collected;
    this.#collected = [];
    const last = new Map(changes.map((change) => [change.book.id, change]));
    const added = new Set(changes.filter(({ type }) => type === 'created').map(({ book }) => book.id));
    const deleted = [...last.values()].filter(({ type }) => type === 'deleted').map(({ book }) => book);
    const stored = [...last.values()].filter(({ type }) => type !== 'deleted').map(({ book }) => book);
    batch(() => {
      const { list } = this.#app;
      // The user may have undone them meanwhile.
      if (list.mayBeOld([...last.values()])) void list.reload();
      else {
        const isWhole = this.#app.address.isSearch.value || list.loaded.isWhole;
        list.remove(new Set(deleted.map(({ id }) => id)), (id) => !isWhole && !added.has(id));
        const listed = list.replace(new Map(stored.map((book) => [book.id, book])));
        for (const book of stored)
          if (!listed.has(book.id) && added.has(book.id)) this.#append(book.id, book);
        list.revision.value++;
      }
      this.#app.selection.set(deleted, false);
      this.#app.history.received.value = last;
    });
    if (this.#isCountPlanned) return;
    this.#isCountPlanned = true;
    setTimeout(() => void this.#count(), Math.max(0, this.#countedAt + COUNT_MS - performance.now()));
  }

  /** Adds a book where no other moves: at the end of the list. */
  #append(id: number, book: BookChange['book']): void {
    const { loaded, counted } = this.#app.list;
    const isLast = (loaded.pages.at(-1)?.books.at(-1)?.id ?? 0) < id;
    const isById = !this.#app.address.isSearch.value && this.#app.address.view.value.sort === 'id';
    if (!isById || !loaded.isAtEnd || !isLast) return;
    loaded.append(book);
    if (counted.value !== undefined) counted.value++;
  }

  /** Finds out how many books are not in the list. */
  async #count(): Promise<void> {
    this.#isCountPlanned = false;
    this.#countedAt = performance.now();
    const { view } = this.#app.address;
    const { counted, isLoading, loaded, revision, countRevision } = this.#app.list;
    const { value: before } = view;
    try {
      const total = await this.#app.list.count(queryOf(before));
      if (view.value === before && !isLoading.value && total !== undefined && counted.value !== undefined) {
        this.#app.history.newBooks.value = Math.max(0, total - counted.value);
        // Books that were not loaded were deleted, or no longer match.
        if (total < counted.value && !loaded.isWhole) counted.value = total;
      }
    } catch {
      // The next change counts again.
    }
    batch(() => {
      revision.value++;
      countRevision.value++;
    });
  }
}

function sleep(ms: number, abort: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  abort.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
