import { batch, computed, effect, type ReadonlySignal } from '@preact/signals';
import {
  type BookChange,
  type BookClient,
  ChangesRemovedError,
  RefusedError,
} from 'bookkeeping-client/index.ts';
import type { BookList } from './book-list.ts';
import { type Connection, sleep } from './connection.ts';
import type { History } from './history.ts';
import type { Operations } from './operations.ts';
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
  readonly onceClient: BookClient;
  readonly connection: Connection;
  readonly operations: Operations;
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
    const isFollowing = computed(
      () => app.isVisible.value && history.isKept.value && !app.connection.isLost.value,
    );
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
        await this.#app.connection.back(this.#closed.signal);
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
        if (this.#app.connection.note(error)) return;
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
    for await (const change of this.#app.onceClient.changes({
      after: this.#cursor,
      resumes: false,
      signal: abort,
    })) {
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
        for (const book of stored) if (!listed.has(book.id) && added.has(book.id)) list.append(book);
        list.revision.value++;
      }
      this.#app.selection.forget(deleted);
      this.#app.history.received.value = last;
    });
    this.#planCount();
  }

  #planCount(): void {
    if (this.#isCountPlanned) return;
    this.#isCountPlanned = true;
    setTimeout(() => void this.#count(), Math.max(0, this.#countedAt + COUNT_MS - performance.now()));
  }

  /** Finds out how many books are not in the list. */
  async #count(): Promise<void> {
    this.#isCountPlanned = false;
    this.#countedAt = performance.now();
    if (this.#closed.signal.aborted) return;
    const { address, list, operations } = this.#app;
    const { view } = address;
    const { counted, isLoading, isCounting, revision, countRevision } = list;
    const { value: before } = view;
    // What this session changes is counted with the list.
    const isChanging = () => operations.pending.value > 0 || isLoading.value || isCounting.value;
    try {
      const wasChanging = isChanging();
      const total = await list.count(queryOf(before));
      if (wasChanging || isChanging()) this.#planCount();
      else if (view.value === before && total !== undefined && counted.value !== undefined) {
        const { loaded } = list;
        // The count has books that were added after a whole list was read.
        const listed = loaded.isWhole ? loaded.count : counted.value;
        this.#app.history.newBooks.value = Math.max(0, total - listed);
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
