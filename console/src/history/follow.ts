import { computed, effect, signal } from '@preact/signals';
import { type BookChange, ChangesRemovedError, RefusedError } from '../../../src/client/index.ts';
import { followEdit } from '../book/unfinished-edits.ts';
import { reload } from '../catalogue/catalogue.ts';
import { client, signInState } from '../session/session.ts';
import { applyChanges, lastChange } from './changed-list.ts';

/** After as many changes at once, the list is read anew. */
const CHANGES_MAX = 1_000;
/** The time for further changes, which are shown together. */
const COLLECT_MS = 100;
/** The least time until the service is asked again after a failure, or the list read anew after too many changes. */
const PAUSE_MS = 5_000;

/** The cursor of the last change that was received; undefined when the list has to be read anew. */
let cursor: string | undefined;
let received: BookChange[] = [];
/** When the list was last read anew. */
let readAt = 0;

/** Shows what others change, as long as the page is visible and the user is signed in. */
export function followWhileVisible(): void {
  const isVisible = signal(!document.hidden);
  document.addEventListener('visibilitychange', () => {
    isVisible.value = !document.hidden;
  });
  const isSignedIn = computed(() => signInState.value !== 'out');
  effect(() => {
    if (!isSignedIn.value) cursor = undefined;
    if (!isVisible.value || !isSignedIn.value) return undefined;
    const controller = new AbortController();
    void follow(controller.signal);
    return () => controller.abort();
  });
}

async function follow(abort: AbortSignal): Promise<void> {
  while (!abort.aborted) {
    let pauseMs = PAUSE_MS * (1 + Math.random());
    try {
      await receive(abort);
      pauseMs = readAt + PAUSE_MS - Date.now();
    } catch (error) {
      const status = error instanceof RefusedError ? error.status : undefined;
      // The history was turned off.
      if (status === 404) return;
      // Changes are missing, or the service has another store.
      if (error instanceof ChangesRemovedError || status === 400) cursor = undefined;
    }
    if (!abort.aborted) await sleep(pauseMs, abort);
  }
}

/** Receives changes until they are too many at once. */
async function receive(abort: AbortSignal): Promise<void> {
  if (cursor === undefined) {
    readAt = Date.now();
    cursor = await client.newestCursor({ signal: abort });
    // Shows what has changed between the books that were loaded and the cursor.
    void reload();
  }
  for await (const change of client.changes({ after: cursor, signal: abort })) {
    cursor = change.cursor;
    if (received.push(change) === 1) setTimeout(showReceived, COLLECT_MS);
    if (received.length > CHANGES_MAX) break;
  }
  received = [];
  cursor = undefined;
}

function showReceived(): void {
  applyChanges(received);
  lastChange.value = received.at(-1);
  for (const id of new Set(received.map(({ book }) => book.id))) followEdit(id);
  received = [];
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
