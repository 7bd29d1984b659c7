import { signal } from '@preact/signals';
import { NoResponseError, RefusedError } from 'bookkeeping-client/index.ts';

/** The pauses before the service is asked whether it responds again: each is twice as long, up to the last. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 15_000;
/** After so long without a loss of the connection, the pauses begin anew. */
const STABLE_MS = 60_000;
/** The wait after a rejection for a time that names none, and after a timeout. */
const BUSY_MS = 5_000;
/** A longer `Retry-After` may be an accident. */
const BUSY_MS_MAX = 60_000;

/** Whether the service can be reached. While it cannot, all parts of the page wait here, and only one request asks, ever more rarely. */
export class Connection {
  readonly isLost = signal(false);
  /** What keeps writes from being stored, which are repeated until they are. */
  readonly obstacle = signal<'connection' | 'service' | undefined>(undefined);
  readonly #url: string;
  #back = Promise.withResolvers<void>();
  #pauseMs = PAUSE_MS;
  #backAt = Number.NEGATIVE_INFINITY;
  #ask = () => {};

  /** @param url is asked for its head: any response but 5xx says that the service can be reached */
  constructor(url: string) {
    this.#url = url;
  }

  /** Notes an error of a call. @returns whether there was no connection, and {@link back} waits for it */
  note(error: unknown): boolean {
    if (!(error instanceof NoResponseError) || error.reason !== 'network') return false;
    if (!this.isLost.value) {
      this.isLost.value = true;
      if (performance.now() - this.#backAt > STABLE_MS) this.#pauseMs = PAUSE_MS;
      void this.#find();
    }
    return true;
  }

  /** Resolved when there is a connection, or when the signal is aborted. */
  async back(abort?: AbortSignal): Promise<void> {
    if (this.isLost.value) await Promise.race([this.#back.promise, aborted(abort)]);
  }

  /** Asks at once: the network may be back. */
  ask(): void {
    this.#ask();
  }

  /** Waits until a write that has failed may succeed. @returns false if it would not, whenever it is repeated */
  async wait(error: unknown, abort?: AbortSignal): Promise<boolean> {
    if (this.note(error)) {
      this.obstacle.value = 'connection';
      await this.back(abort);
      return true;
    }
    if (!isTemporary(error)) return false;
    this.obstacle.value = 'service';
    const { retryAfterSeconds } = error instanceof RefusedError ? error : {};
    const ms = retryAfterSeconds === undefined ? BUSY_MS : Math.max(1, retryAfterSeconds) * 1_000;
    await sleep(Math.min(ms, BUSY_MS_MAX), abort);
    return true;
  }

  async #find(): Promise<void> {
    do {
      const asked = new AbortController();
      this.#ask = () => asked.abort();
      await sleep(this.#pauseMs, asked.signal);
      this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
    } while (!(await this.#responds()));
    this.#ask = () => {};
    this.#backAt = performance.now();
    this.isLost.value = false;
    this.#back.resolve();
    this.#back = Promise.withResolvers();
  }

  async #responds(): Promise<boolean> {
    try {
      return (await fetch(this.#url, { method: 'HEAD', cache: 'no-store' })).status < 500;
    } catch {
      return false;
    }
  }
}

/** Whether a call may succeed when it is repeated. */
export function isTemporary(error: unknown): boolean {
  return error instanceof RefusedError
    ? [429, 502, 503, 504].includes(error.status)
    : error instanceof NoResponseError && error.reason !== 'unreadable';
}

function aborted(abort: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (abort?.aborted) resolve();
    abort?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolved after a time, or when the signal is aborted. */
export function sleep(ms: number, abort?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      abort?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, abort?.aborted ? 0 : ms);
    abort?.addEventListener('abort', end);
  });
}
