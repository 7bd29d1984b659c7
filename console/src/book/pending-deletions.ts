import { type Book, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { hide, refresh, replace, uncount } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { explain, texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { setPausableTimeout, showBriefly, showToast } from '../page/toasts.tsx';
import { warnBeforeLeaving } from '../page/warn-before-leaving.ts';
import { setSelected } from '../selection/selection.ts';
import { authorization, client, SERVICE_URL } from '../session/session.ts';
import { isSame } from './fields.ts';
import { visibleText } from './visible-text.ts';

/** How long a deletion can be undone. It is sent afterwards, so an undone deletion is never sent. */
export const UNDO_MS = 8_000;

interface Deletion {
  readonly send: () => Promise<void>;
  readonly sendOnUnload: (() => void) | undefined;
}

const pending = new Set<Deletion>();

/**
 * Hides books, and calls `send` when the deletion can no longer be undone.
 *
 * @param send shows the books that it cannot delete with `restore`
 * @param options.sendOnUnload deletes the books when the page is closed; without it, the browser warns
 */
export function deleteLater(
  books: readonly Book[],
  text: () => string,
  send: (restore: ReturnType<typeof hide>) => Promise<void>,
  { sendOnUnload, onUndo }: { readonly sendOnUnload?: () => void; readonly onUndo?: () => void } = {},
): void {
  const restore = hide(new Set(books.map(({ id }) => id)));
  setSelected(books, false);
  const dismiss = showToast({
    text,
    undo() {
      if (!end()) return;
      restore();
      onUndo?.();
    },
  });
  const stopTimer = setPausableTimeout(() => void deletion.send(), UNDO_MS);
  const end = (): boolean => {
    stopTimer();
    dismiss();
    return pending.delete(deletion);
  };
  const deletion: Deletion = {
    sendOnUnload,
    async send() {
      if (!end()) return;
      await send(restore);
      for (const { id } of books) uncount(id);
    },
  };
  pending.add(deletion);
}

/** Hides a book, and deletes it when it can no longer be undone: only the version that was shown. */
export function deleteBook(book: Book): void {
  let current: VersionedBook | undefined;
  const found = client.find(book.id).then((stored) => {
    current = stored;
    return stored;
  });
  found.catch(() => {});
  deleteLater(
    [book],
    () => formatMessage(texts.value.deleted, { title: nameOf(book) }),
    async (restore) => {
      try {
        const stored = await found;
        if (stored && !isSame(stored, book)) throw new ChangedError();
        if (stored?.etag) await client.delete(book.id, { ifMatch: stored.etag });
      } catch (error) {
        restore();
        await showFailure(book, error);
      }
    },
    {
      sendOnUnload() {
        const headers = authorization();
        if (!headers || !current?.etag || !isSame(current, book)) return;
        void fetch(new URL(`book/${book.id}`, SERVICE_URL), {
          method: 'DELETE',
          headers: { ...headers, 'If-Match': current.etag },
          keepalive: true,
        });
      },
    },
  );
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
  if (current) replace([current]);
  else refresh();
}

/** Sends the pending deletions. */
export async function sendPendingDeletions(): Promise<void> {
  await Promise.all([...pending].map((deletion) => deletion.send()));
}

// The browser completes requests with `keepalive` after the page has closed.
addEventListener('pagehide', () => {
  for (const { sendOnUnload } of pending) sendOnUnload?.();
  pending.clear();
});

warnBeforeLeaving(() => [...pending].some(({ sendOnUnload }) => !sendOnUnload));

export function nameOf({ title }: Book): string {
  return title === '' ? texts.value.noTitle : visibleText(title).slice(0, 60);
}
