import { signal } from '@preact/signals';
import { type BookChange, RefusedError } from '../../../src/client/index.ts';

/** The number of changes that are shown, and that each further step adds. */
const PART = 50;

/** Changes that are loaded step by step. */
export class ChangeList {
  readonly changes = signal<readonly BookChange[]>([]);
  readonly state = signal<'loading' | 'more' | 'complete' | 'failed'>('loading');
  readonly error = signal<unknown>(undefined);
  readonly #read: (signal: AbortSignal) => AsyncIterator<BookChange>;
  #controller = new AbortController();
  #iterator: AsyncIterator<BookChange> | undefined;
  /** The first change of the next step. */
  #next: BookChange | undefined;

  /** @param read the changes, from the first on */
  constructor(read: (signal: AbortSignal) => AsyncIterator<BookChange>) {
    this.#read = read;
  }

  /** Loads the changes from the first on. */
  async load(): Promise<void> {
    this.close();
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.#iterator = this.#read(abort);
    this.#next = undefined;
    await this.#add([], abort);
  }

  /** Loads further changes. */
  async more(): Promise<void> {
    await this.#add(this.changes.value, this.#controller.signal);
  }

  close(): void {
    this.#controller.abort();
  }

  async #add(before: readonly BookChange[], abort: AbortSignal): Promise<void> {
    this.state.value = 'loading';
    const added: BookChange[] = this.#next ? [this.#next] : [];
    try {
      while (added.length <= PART) {
        const { done, value } = (await this.#iterator?.next()) ?? { done: true };
        if (done) break;
        added.push(value);
      }
    } catch (error) {
      if (abort.aborted) return;
      // Nothing is known.
      if (!(error instanceof RefusedError && error.status === 404)) {
        this.error.value = error;
        this.state.value = 'failed';
        return;
      }
    }
    if (abort.aborted) return;
    this.#next = added[PART];
    this.changes.value = [...before, ...added.slice(0, PART)];
    this.state.value = this.#next ? 'more' : 'complete';
  }
}
