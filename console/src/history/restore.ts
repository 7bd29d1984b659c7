import { type Book, type BookFields, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { isSame } from '../book/fields.ts';
import { hiddenIds } from '../book/hidden-books.ts';
import { deleteBook, nameOf, UNDO_MS } from '../book/pending-deletions.ts';
import { refresh } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { showBriefly } from '../page/toasts.tsx';
import { client } from '../session/session.ts';

/** The book has changed meanwhile, or is no longer kept. */
class OutdatedError extends Error {}

/**
 * Stores books as they were.
 *
 * @param now the stored book, unless it has changed; undefined when the books are deleted
 * @returns why one was not restored; undefined when all were
 */
export async function restore(states: readonly Book[], now?: VersionedBook): Promise<string | undefined> {
  const restored: VersionedBook[] = [];
  let reason: string | undefined;
  for (const state of states) {
    try {
      restored.push(now ? await write(state, now) : await restoreDeleted(state));
    } catch (error) {
      reason = error instanceof OutdatedError ? allTexts.value.outdated : explain(error);
    }
  }
  if (restored.length > 0) showRestored(restored, now);
  return reason;
}

async function restoreDeleted(state: Book): Promise<VersionedBook> {
  const book = await unlessOutdated(client.restore(state.id));
  return isSame<BookFields>(book, state) ? book : write(state, book);
}

function write({ id, title, author, year }: Book, { etag = '*' }: VersionedBook): Promise<VersionedBook> {
  return unlessOutdated(client.update(id, { title, author, year }, { ifMatch: etag }));
}

async function unlessOutdated(call: Promise<VersionedBook | undefined>): Promise<VersionedBook> {
  const book = await call.catch((error: unknown) => {
    if (!(error instanceof RefusedError && [409, 412].includes(error.status))) throw error;
  });
  if (!book) throw new OutdatedError();
  return book;
}

function showRestored(books: readonly VersionedBook[], before: VersionedBook | undefined): void {
  for (const { id } of books) hiddenIds.delete(id);
  refresh();
  const [book] = books;
  showBriefly(
    {
      text: () =>
        book && books.length === 1
          ? formatMessage(allTexts.value.restored, { title: nameOf(book) })
          : formatMessage(allTexts.value.restoredBooks, { count: books.length }),
      undo() {
        if (book && before) void undo(before, book);
        else for (const each of books) deleteBook(each);
      },
    },
    UNDO_MS,
  );
}

async function undo(before: VersionedBook, restored: VersionedBook): Promise<void> {
  try {
    await write(before, restored);
    refresh();
  } catch (error) {
    const reason = error instanceof OutdatedError ? allTexts.value.outdated : explain(error);
    showBriefly({ text: () => formatMessage(allTexts.value.notStored, { reason }) });
  }
}
