import { batch, signal } from '@preact/signals';
import { type Book, type BookFields, RefusedError } from '../../../src/client/index.ts';
import { differingFields } from '../book/fields.ts';
import { offsetOf, shownPages } from '../book/hidden-books.ts';
import { deleteLater } from '../book/pending-deletions.ts';
import { changeIfUnchanged, deleteIfUnchanged, forEachBook, type Outcome } from '../book/stored-books.ts';
import { replace } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { queryOf, view } from '../page/address.ts';
import { showBriefly } from '../page/toasts.tsx';
import { warnBeforeLeaving } from '../page/warn-before-leaving.ts';
import { client } from '../session/session.ts';
import {
  clearSelection,
  type Failure,
  failures,
  searchOf,
  selectedCount,
  selectedPages,
  setSelected,
} from './selection.ts';

/** The limit of a command, which has its books in memory, with their former versions for the undo. */
export const COMMAND_BOOKS_MAX = 100_000;

/** How long changes can be undone. */
const UNDO_MS = 20_000;

/** A running command: what it does, and the number of books it has done. */
export interface Progress {
  readonly step: 'reading' | 'deleting' | 'changing' | 'undoing';
  readonly done: number;
  readonly total: number;
}

export const progress = signal<Progress | undefined>(undefined);

/** The error that ended the last command before all books were done. */
export const commandError = signal<unknown>(undefined);

let controller = new AbortController();
let lastCommand = Promise.resolve();

/** Ends the running command after its calls in flight. */
export function stopCommand(): void {
  controller.abort();
}

warnBeforeLeaving(() => progress.value !== undefined);

/** Reads the books of rows, and selects them, unless others are searched meanwhile. */
export async function selectRows(start: number, count: number): Promise<void> {
  const query = { ...queryOf(view.value), offset: offsetOf(start) };
  const search = searchOf(view.value);
  let done = 0;
  await begin('reading', count, async (stop) => {
    for await (const page of shownPages(query, stop)) {
      if (searchOf(view.value) !== search) return;
      const books = page.slice(0, count - done);
      setSelected(books, true);
      done += books.length;
      showDone(done);
      if (done === count) return;
    }
  });
}

/** Hides the selected books, and deletes them when that can no longer be undone. */
export async function deleteSelected(): Promise<void> {
  const books = await takeSelected();
  if (!books) return;
  const text = () => formatMessage(allTexts.value.deletedBooks, { count: books.length });
  deleteLater(books, text, (restore) => deleteInBackground(books, restore));
}

/** Deletes books with progress, and selects those that cannot be deleted. @param restore shows them again */
export async function deleteInBackground(
  books: readonly Book[],
  restore: (shown: ReadonlySet<number>) => void,
): Promise<void> {
  const { left } = await run('deleting', books, async (book, stop) => {
    const outcome = await deleteIfUnchanged(book, client, stop);
    return outcome.kind === 'missing' ? { kind: 'done', book } : outcome;
  });
  if (left.length > 0) restore(new Set(left.map(({ id }) => id)));
}

/** Sets fields of the selected books. */
export async function changeSelected(changes: Partial<BookFields>): Promise<void> {
  const books = await takeSelected();
  if (books) await change('changing', new Map(books.map((book) => [book, changes])));
}

async function change(
  step: 'changing' | 'undoing',
  changes: ReadonlyMap<Book, Partial<BookFields>>,
): Promise<void> {
  const { done } = await run(step, [...changes.keys()], (book, stop) =>
    changeIfUnchanged(book, changes.get(book) ?? {}, client, stop),
  );
  if (done.length === 0) return;
  const former = new Map(done.map(({ before, after }) => [after, differingFields(before, after)]));
  const text = step === 'changing' ? 'changedBooks' : 'undoneBooks';
  showBriefly(
    {
      text: () => formatMessage(allTexts.value[text], { count: done.length }),
      ...(step === 'changing' && { undo: () => void change('undoing', former) }),
    },
    UNDO_MS,
  );
}

/** Reads the selected books, and deselects them. @returns undefined when that fails or is stopped */
async function takeSelected(): Promise<readonly Book[] | undefined> {
  const total = selectedCount.value;
  if (total === 0 || total > COMMAND_BOOKS_MAX || progress.value) return undefined;
  const books: Book[] = [];
  const isRead = await begin('reading', total, async (stop) => {
    for await (const page of selectedPages(stop)) {
      books.push(...page);
      showDone(books.length);
    }
  });
  if (isRead) clearSelection();
  return isRead ? books : undefined;
}

interface Result {
  readonly done: { readonly before: Book; readonly after: Book }[];
  readonly left: readonly Book[];
}

/** Calls the service for each book. Those that are not done are selected, with the reason if there is one for a single book. */
async function run(
  step: Progress['step'],
  books: readonly Book[],
  call: (book: Book, stop: AbortSignal) => Promise<Outcome>,
): Promise<Result> {
  const waiting = new Set(books);
  const done: Result['done'] = [];
  const failed = new Map<number, Failure>();
  const current: Book[] = [];
  await begin(step, books.length, (stop) =>
    forEachBook(
      waiting,
      (book) => call(book, stop).catch(refusalOf),
      (outcome, book) => {
        if ('book' in outcome) current.push(outcome.book);
        if (outcome.kind === 'done') done.push({ before: book, after: outcome.book });
        else failed.set(book.id, { book, reason: outcome.kind === 'refused' ? outcome.error : outcome.kind });
        showDone(books.length - waiting.size);
      },
      stop,
    ),
  );
  const left = [...Array.from(failed.values(), ({ book }) => book), ...waiting];
  batch(() => {
    replace(current);
    setSelected(left, true);
    failures.value = failed;
  });
  return { done, left };
}

/** A refusal that concerns one book; throws other errors, which end the command. */
function refusalOf(error: unknown): { readonly kind: 'refused'; readonly error: RefusedError } {
  if (error instanceof RefusedError && error.status < 500 && ![401, 429].includes(error.status))
    return { kind: 'refused', error };
  throw error;
}

function showDone(done: number): void {
  if (progress.value) progress.value = { ...progress.value, done };
}

/** Runs one command after another. @returns whether it was neither stopped nor ended by an error */
async function begin(
  step: Progress['step'],
  total: number,
  work: (stop: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const previous = lastCommand;
  const { promise, resolve } = Promise.withResolvers<void>();
  lastCommand = promise;
  await previous;
  controller = new AbortController();
  const { signal: stop } = controller;
  commandError.value = undefined;
  progress.value = { step, done: 0, total };
  try {
    await work(stop);
  } catch (error) {
    // An aborted call is a stop, or a sign-out.
    if (!(error instanceof DOMException)) commandError.value = error;
    else controller.abort();
  } finally {
    progress.value = undefined;
    resolve();
  }
  return !stop.aborted && commandError.value === undefined;
}
