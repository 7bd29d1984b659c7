import { type Book, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { hide, refresh, replace } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { explain, texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { setPausableTimeout, showBriefly, showToast } from '../page/toasts.tsx';
import { authorization, client, SERVICE_URL } from '../session/session.ts';
import { isSame } from './fields.ts';
import { visibleText } from './visible-text.ts';

/** How long a deletion can be undone. It is sent afterwards, so an undone deletion is never sent. */
export const UNDO_MS = 8_000;

interface Deletion {
  readonly book: Book;
  /** The stored version, once it is loaded; only this version is deleted. */
  current: VersionedBook | undefined;
  readonly send: () => Promise<void>;
}

const pending = new Set<Deletion>();

/** Hides a book, and deletes it when it can no longer be undone. */
export function deleteBook(book: Book): void {
  const restore = hide(book.id);
  const dismiss = showToast({
    text: () => formatMessage(texts.value.deleted, { title: nameOf(book) }),
    undo() {
      if (end()) restore();
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
        restore();
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
      text: () => formatMessage(texts.value.notDeleted, { title: nameOf(book), reason: explain(error) }),
      action: { label: () => texts.value.tryAgain, run: () => deleteBook(book) },
    });
    return;
  }
  showBriefly({
    text: () => formatMessage(texts.value.notDeletedAsChanged, { title: nameOf(book) }),
    action: { label: () => texts.value.show, run: () => show({ book: book.id }) },
  });
  const current = await client.find(book.id).catch(() => undefined);
  if (current) replace(current);
  else refresh();
}

/** Sends the pending deletions. */
export async function sendPendingDeletions(): Promise<void> {
  await Promise.all([...pending].map((deletion) => deletion.send()));
}

// The browser completes requests with `keepalive` after the page has closed.
addEventListener('pagehide', () => {
  for (const { book, current } of pending) {
    const headers = authorization();
    if (!headers || !current?.etag || !isSame(current, book)) continue;
    void fetch(new URL(`book/${book.id}`, SERVICE_URL), {
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
