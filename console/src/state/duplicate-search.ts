import { computed, signal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { type BookList, bookOf } from './book-list.ts';
import { exactCopiesIn, groupTwins } from './duplicate-groups.ts';
import { OPERATION_BOOKS_MAX, type Operations, type Report } from './operations.ts';
import { readStored } from './preferences.ts';

/** The groups of different books, by the numbers of their books. */
const STORED_KEPT = 'kept-duplicates';
const KEPT_MAX = 10_000;

/** A search for duplicates among all books, and the groups that are still to be decided. */
export class DuplicateSearch {
  readonly groups = signal<readonly (readonly Book[])[]>([]);
  readonly isReading = signal(false);
  readonly error = signal<unknown>(undefined);
  /** The copies of books with a lower number, as many as an operation can delete. */
  readonly exactCopies = computed(() =>
    this.groups.value.flatMap((group) => this.#exactCopiesIn(group)).slice(0, OPERATION_BOOKS_MAX),
  );
  /** Of each group, as there may be a hundred thousand, and each decision leaves the others as they are. */
  readonly #copies = new WeakMap<readonly Book[], readonly Book[]>();
  readonly #app: { readonly list: BookList; readonly operations: Operations };
  readonly #controller = new AbortController();

  constructor(app: { readonly list: BookList; readonly operations: Operations }) {
    this.#app = app;
  }

  async start(): Promise<void> {
    const { signal: abort } = this.#controller;
    this.isReading.value = true;
    this.groups.value = [];
    this.error.value = undefined;
    try {
      const twins: Book[] = [];
      for await (const books of this.#app.list.pages(abort, { twins: true })) twins.push(...books);
      const kept = new Set(readStored<string[]>(STORED_KEPT, []));
      this.groups.value = groupTwins(twins).filter((group) => !kept.has(keyOf(group)));
    } catch (error) {
      if (!abort.aborted) this.error.value = error;
    } finally {
      this.isReading.value = false;
    }
  }

  stop(): void {
    this.#controller.abort();
  }

  #exactCopiesIn(group: readonly Book[]): readonly Book[] {
    const copies = this.#copies.get(group) ?? exactCopiesIn(group);
    this.#copies.set(group, copies);
    return copies;
  }

  /** Puts a group at the end. */
  skip(group: readonly Book[]): void {
    this.groups.value = [...this.groups.value.filter((other) => other !== group), group];
  }

  /** Keeps all books of a group, also in later searches. */
  keepAll(group: readonly Book[]): void {
    const kept = [...readStored<string[]>(STORED_KEPT, []), keyOf(group)];
    localStorage.setItem(STORED_KEPT, JSON.stringify(kept.slice(-KEPT_MAX)));
    this.groups.value = this.groups.value.filter((other) => other !== group);
  }

  /** Deletes books of the groups, in one operation. */
  async delete(books: readonly Book[]): Promise<Report> {
    const deletions = books.map((before) => ({ before, after: undefined }));
    const report = await this.#app.operations.run('deleted', deletions);
    const deleted = new Set(report.done.map((change) => bookOf(change).id));
    const remaining = this.groups.value.map((group) => {
      const left = group.filter(({ id }) => !deleted.has(id));
      return left.length === group.length ? group : left;
    });
    this.groups.value = remaining.filter((group) => group.length > 1);
    return report;
  }
}

function keyOf(group: readonly Book[]): string {
  return group.map(({ id }) => id).join();
}
