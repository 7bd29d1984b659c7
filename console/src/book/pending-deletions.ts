import { type Book, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { refresh, replace, takeOut } from '../catalogue/catalogue.ts';
import { explain, texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { setPausableTimeout, showBriefly, showToast } from '../page/toasts.tsx';
import { authorization, client, SERVICE } from '../session/session.ts';
import { isSame } from './fields.ts';
import { visibleText } from './visible-text.ts';

/** How long a deletion can be undone. It is not sent before, so an undone deletion has never happened. */
export const UNDO_MS = 8_000;

interface Deletion {
  readonly book: Book;
  /** The book as the service has it, once that is loaded; only this version is deleted. */
  current: VersionedBook | undefined;
  readonly send: () => Promise<void>;
}

const pending = new Set<Deletion>();

/** Takes a book out of the list, and deletes it when the time to undo is over. */
export function remove(book: Book): void {
  const putBack = takeOut(book.id);
  const dismiss = showToast({
    text: () => texts.value.deleted(nameOf(book)),
    undo() {
      if (end()) putBack();
    },
  });
  const stopTimer = setPausableTimeout(() => void deletion.send(), UNDO_MS);
  const end = (): boolean => {
    stopTimer();
    dismiss();
    return pending.delete(deletion);
  };
  const found = client.find(book.id).then((current) => {
    deletion.current = current;
    return current;
  });
  found.catch(() => {});
  const deletion: Deletion = {
    book,
    current: undefined,
    async send() {
      if (!end()) return;
      try {
        const current = await found;
        if (current && !isSame(current, book)) throw new ChangedError();
        if (current?.etag) await client.delete(book.id, { ifMatch: current.etag });
      } catch (error) {
        putBack();
        await showFailure(book, error);
      }
    },
  };
  pending.add(deletion);
}

/** Another user has changed the book since it was shown. */
class ChangedError extends Error {}

async function showFailure(book: Book, error: unknown): Promise<void> {
  if (!(error instanceof ChangedError || (error instanceof RefusedError && error.status === 412))) {
    showBriefly({
      isFault: true,
      text: () => texts.value.notDeleted(nameOf(book), explain(error)),
      action: { label: () => texts.value.tryAgain, run: () => remove(book) },
    });
    return;
  }
  showBriefly({
    isFault: true,
    text: () => texts.value.notDeletedAsChanged(nameOf(book)),
    action: { label: () => texts.value.show, run: () => show({ book: book.id }) },
  });
  const current = await client.find(book.id).catch(() => undefined);
  if (current) replace(current);
  else refresh();
}

/** Sends the pending deletions before a sign-out. */
export async function sendPendingDeletions(): Promise<void> {
  await Promise.all([...pending].map((deletion) => deletion.send()));
}

// A page that closes cannot wait; the browser completes requests with `keepalive`.
addEventListener('pagehide', () => {
  for (const { book, current } of pending) {
    const headers = authorization();
    if (!headers || !current?.etag || !isSame(current, book)) continue;
    void fetch(new URL(`book/${book.id}`, SERVICE), {
      method: 'DELETE',
      headers: { ...headers, 'If-Match': current.etag },
      keepalive: true,
    });
  }
  pending.clear();
});

function nameOf({ title }: Book): string {
  return title === '' ? texts.value.noTitle : visibleText(title).slice(0, 60);
}
