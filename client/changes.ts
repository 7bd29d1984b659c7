import type { Book } from '../src/book/contract.ts';
import { ChangesRemovedError, NoResponseError, RefusedError } from './errors.ts';
import { type ApiResponse, isTemporary } from './exchange.ts';
import { nextOf } from './list.ts';
import { expectSuccess } from './responses.ts';
import type { Dependencies } from './retries.ts';

/** A change of a book. */
export interface BookChange {
  /** The value of `after` for the changes after this one. */
  readonly cursor: string;
  readonly type: 'created' | 'updated' | 'deleted';
  /** When it was made, in RFC 3339. */
  readonly at: string;
  /** What the book became; for `deleted`, what it was. */
  readonly book: Book;
  /** In the history of a book: present when changes after this one, and before the next one that is known, may be missing. */
  readonly gapAfter?: true;
}

export interface ChangesOptions {
  /** The cursor of the last change seen; without it, the changes begin with the first that is kept. */
  readonly after?: string | undefined;
  /** Whether to end when there is no further change, instead of waiting for it. */
  readonly once?: boolean | undefined;
  /** Whether to go on by itself after an outage that outlasts the attempts of a call, as by default, instead of throwing its error. */
  readonly resumes?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const PAGE_CHANGES = 1_000;
/** The longest time for which the service may wait for a change; proxies close a connection that is idle for longer. */
const WAIT_MS_MAX = 25_000;
/** The shortest time between two requests that find no change; the timeout can be too short for the service to wait. */
const POLL_MS = 1_000;
/** The longest wait before a follower asks an unavailable service again. */
const RESUME_MS = 5_000;

/** @param timeoutMs of a response @param read requests a path, with retries */
export async function* followChanges(
  { after, once = false, resumes = !once, signal }: ChangesOptions,
  timeoutMs: number,
  read: (path: string) => Promise<ApiResponse>,
  { monotonicNow, random, sleep }: Dependencies,
): AsyncIterableIterator<BookChange> {
  const waitSeconds = once ? 0 : Math.floor(Math.min(WAIT_MS_MAX, timeoutMs / 2) / 1_000);
  const parameters = { limit: `${PAGE_CHANGES}`, wait: `${waitSeconds}` };
  const search = new URLSearchParams({ ...parameters, ...(after !== undefined && { after }) });
  for (;;) {
    const startedMs = monotonicNow();
    try {
      const response = await read(`changes?${search.toString()}`);
      if (response.status === 410) throw new ChangesRemovedError(response);
      const changes = expectSuccess(response).data as BookChange[];
      yield* changes;
      if (once && changes.length === 0) return;
      const cursor = nextCursorOf(response) ?? changes.at(-1)?.cursor;
      if (cursor !== undefined) search.set('after', cursor);
      const elapsedMs = monotonicNow() - startedMs;
      if (changes.length === 0 && elapsedMs < POLL_MS) await sleep(POLL_MS - elapsedMs, signal);
    } catch (error) {
      if (!resumes || !isResumable(error)) throw error;
      await sleep(random() * RESUME_MS, signal);
    }
  }
}

/** Whether the service may respond later, after an outage that outlasts the attempts of a call. */
function isResumable(error: unknown): boolean {
  if (error instanceof NoResponseError) return error.reason !== 'unreadable';
  return error instanceof RefusedError && isTemporary(error.status);
}

/** The `after` of the next page. */
export function nextCursorOf({ headers }: ApiResponse): string | undefined {
  return new URLSearchParams(nextOf(headers.get('Link'))).get('after') ?? undefined;
}

/** All pages of a path, the last change first. @param read requests a path, and throws unless the response is a success */
export async function* readChanges(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
  read: (path: string) => Promise<ApiResponse>,
): AsyncIterableIterator<BookChange> {
  const given = Object.entries({ ...parameters, limit: `${PAGE_CHANGES}` });
  const first = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  let search: string | undefined = `?${new URLSearchParams(first).toString()}`;
  while (search !== undefined) {
    const { data, headers }: ApiResponse = await read(`${path}${search}`);
    yield* data as BookChange[];
    search = nextOf(headers.get('Link'));
  }
}
