import { signal } from '@preact/signals';
import type { Book, BookFields } from '../../../src/client/index.ts';
import { differingFields } from '../book/fields.ts';
import { shownPages } from '../book/hidden-books.ts';
import { deleteLater } from '../book/pending-deletions.ts';
import { changeIfUnchanged, type Outcome } from '../book/stored-books.ts';
import { countBooks, replace } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { readStored } from '../page/preferences.ts';
import { deleteInBackground } from '../selection/commands.ts';
import { client } from '../session/session.ts';
import { findDuplicates } from './duplicate-groups.ts';

/** The search ends at this number of groups; it can be repeated when they are merged. */
const GROUPS_MAX = 1_000;

/** The groups that the user has chosen to keep, by the numbers of their books. */
const STORED_KEPT = 'kept-duplicates';
const KEPT_MAX = 10_000;

/** A search for duplicates among all books, and the groups that are still to be decided. */
export class DuplicateSearch {
  readonly groups = signal<readonly (readonly Book[])[]>([]);
  readonly read = signal(0);
  readonly total = signal<number | undefined>(undefined);
  readonly isReading = signal(false);
  readonly error = signal<unknown>(undefined);
  #controller = new AbortController();

  async start(): Promise<void> {
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.groups.value = [];
    this.read.value = 0;
    this.error.value = undefined;
    this.isReading.value = true;
    try {
      this.total.value = await countBooks({}, abort);
      const kept = new Set(readKept());
      for await (const group of findDuplicates(this.#pages(abort))) {
        if (kept.has(keyOf(group))) continue;
        this.groups.value = [...this.groups.value, group];
        if (this.groups.value.length === GROUPS_MAX) break;
      }
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
  keep(group: readonly Book[]): void {
    localStorage.setItem(STORED_KEPT, JSON.stringify([...readKept(), keyOf(group)].slice(-KEPT_MAX)));
    this.#remove(group);
  }

  /** Gives the first book of a group the chosen fields, and deletes the others. The toast undoes both. */
  async merge(group: readonly Book[], fields: BookFields): Promise<Outcome['kind']> {
    const [first, ...others] = group;
    if (!first) return 'missing';
    const outcome = await changeIfUnchanged(
      first,
      differingFields(fields, first),
      client,
      this.#controller.signal,
    );
    if (outcome.kind !== 'done') return outcome.kind;
    replace([outcome.book]);
    this.#remove(group);
    const text = () => formatMessage(allTexts.value.merged, { count: group.length, id: first.id });
    deleteLater(others, text, (restore) => deleteInBackground(others, restore), {
      onUndo: () => void this.#undo(outcome.book, first, group),
    });
    return 'done';
  }

  async #undo(merged: Book, former: Book, group: readonly Book[]): Promise<void> {
    try {
      const changes = differingFields(former, merged);
      const outcome = await changeIfUnchanged(merged, changes, client, new AbortController().signal);
      if (outcome.kind === 'done') replace([outcome.book]);
      this.groups.value = [group, ...this.groups.value];
    } catch (error) {
      this.error.value = error;
    }
  }

  #remove(group: readonly Book[]): void {
    this.groups.value = this.groups.value.filter((other) => other !== group);
  }

  async *#pages(abort: AbortSignal) {
    for await (const books of shownPages({ sort: 'title' }, abort)) {
      this.read.value += books.length;
      yield books;
    }
  }
}

function keyOf(group: readonly Book[]): string {
  return group.map(({ id }) => id).join();
}

function readKept(): string[] {
  return readStored<string[]>(STORED_KEPT, []);
}
