import { signal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import type { BookList } from './book-list.ts';
import { findDuplicates } from './duplicate-groups.ts';
import type { Operations, Report } from './operations.ts';
import { readStored } from './preferences.ts';

/** The search ends at this number of groups; it can be repeated when they are decided. */
export const GROUPS_MAX = 1_000;

/** The groups of different books, by the numbers of their books. */
const STORED_KEPT = 'kept-duplicates';
const KEPT_MAX = 10_000;

/** A search for duplicates among all books, and the groups that are still to be decided. */
export class DuplicateSearch {
  readonly groups = signal<readonly (readonly Book[])[]>([]);
  readonly read = signal(0);
  readonly total = signal<number | undefined>(undefined);
  readonly isReading = signal(false);
  readonly error = signal<unknown>(undefined);
  /** How the search ended: with all groups, or with the most that it finds; undefined if it runs, was stopped or failed. */
  readonly end = signal<'complete' | 'full' | undefined>(undefined);
  readonly #app: { readonly list: BookList; readonly operations: Operations };
  #controller = new AbortController();

  constructor(app: { readonly list: BookList; readonly operations: Operations }) {
    this.#app = app;
  }

  async start(): Promise<void> {
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.isReading.value = true;
    this.groups.value = [];
    this.read.value = 0;
    this.end.value = this.error.value = undefined;
    try {
      this.total.value = await this.#app.list.count({}, abort);
      const kept = new Set(readStored<string[]>(STORED_KEPT, []));
      for await (const group of findDuplicates(this.#pages(abort))) {
        if (kept.has(keyOf(group))) continue;
        this.groups.value = [...this.groups.value, group];
        if (this.groups.value.length === GROUPS_MAX) break;
      }
      this.end.value = this.groups.value.length === GROUPS_MAX ? 'full' : 'complete';
    } catch (error) {
      if (!abort.aborted) this.error.value = error;
    } finally {
      this.isReading.value = false;
    }
  }

  /** Ends the search; the groups found so far stay. */
  stop(): void {
    this.#controller.abort();
  }

  /** Puts a group at the end. */
  skip(group: readonly Book[]): void {
    this.groups.value = [...this.groups.value.filter((other) => other !== group), group];
  }

  /** Keeps all books of a group, also in later searches. */
  keepAll(group: readonly Book[]): void {
    const kept = [...readStored<string[]>(STORED_KEPT, []), keyOf(group)];
    localStorage.setItem(STORED_KEPT, JSON.stringify(kept.slice(-KEPT_MAX)));
    this.#remove(group);
  }

  /** Deletes the other books of a group. */
  async keepOne(group: readonly Book[], kept: Book): Promise<Report> {
    const others = group.filter((book) => book !== kept);
    const deletions = others.map((before) => ({ before, after: undefined }));
    const report = await this.#app.operations.run('deleted', deletions);
    if (report.done.length === others.length) this.#remove(group);
    return report;
  }

  #remove(group: readonly Book[]): void {
    this.groups.value = this.groups.value.filter((other) => other !== group);
  }

  async *#pages(abort: AbortSignal) {
    for await (const books of this.#app.list.pages(abort, { sort: 'title' })) {
      this.read.value += books.length;
      yield books;
    }
  }
}

function keyOf(group: readonly Book[]): string {
  return group.map(({ id }) => id).join();
}
