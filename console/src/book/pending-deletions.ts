import type { Book, VersionedBook } from '../../../src/client/index.ts';
import { RefusedError } from '../../../src/client/index.ts';
import { refresh, replace, takeOut } from '../catalogue/catalogue.ts';
import { explain } from '../language/explain.ts';
import { texts } from '../language/language.ts';
import { show } from '../page/address.ts';
import { after, tell, tellForAWhile } from '../page/toasts.tsx';
import { authorization, client, SERVICE } from '../session/session.ts';
import { isSame } from './fields.ts';
import { visibleText } from './visible-text.ts';

/** How long a deletion can be undone. It is held back so long, so that an undone one has never happened. */
export const UNDO_MS = 8_000;

/** A deletion that has not been sent yet. */
interface Deletion {
  readonly book: Book;
  /** The book as the service has it, when that has come; only this version is deleted. */
  current: VersionedBook | undefined;
  readonly send: () => Promise<void>;
}

const pending = new Set<Deletion>();

/** Takes a book out of the list, and deletes it when nobody has undone that for a while. */
export function remove(book: Book): void {
  const putBack = takeOut(book.id);
  const dismiss = tell({
    text: () => texts.value.deleted(nameOf(book)),
    undo() {
      if (end()) putBack();
    },
  });
  const stopWaiting = after(UNDO_MS, () => void deletion.send());
  const end = (): boolean => {
    stopWaiting();
    dismiss();
    return pending.delete(deletion);
  };
  const checked = client.find(book.id).then((found) => {
    deletion.current = found;
    return found;
  });
  checked.catch(() => {});
  const deletion: Deletion = {
    book,
    current: undefined,
    async send() {
      if (!end()) return;
      try {
        const current = await checked;
        if (current && !isSame(current, book)) throw new Changed();
        if (current?.etag) await client.delete(book.id, { ifMatch: current.etag });
      } catch (error) {
        putBack();
        await tellFailure(book, error);
      }
    },
  };
  pending.add(deletion);
}

/** Somebody else has changed the book since it was shown. */
class Changed extends Error {}

async function tellFailure(book: Book, error: unknown): Promise<void> {
  const isChanged = error instanceof Changed || (error instanceof RefusedError && error.status === 412);
  tellForAWhile({
    isFault: true,
    text: () =>
      isChanged
        ? texts.value.notDeletedAsChanged(nameOf(book))
        : texts.value.notDeleted(nameOf(book), explain(error)),
    action: isChanged
      ? { label: () => texts.value.look, run: () => show({ book: book.id }) }
      : { label: () => texts.value.tryAgain, run: () => remove(book) },
  });
  if (!isChanged) return;
  const now = await client.find(book.id).catch(() => undefined);
  if (now) replace(now);
  else refresh();
}

/** Sends what is held back, as somebody signs out. */
export async function sendAll(): Promise<void> {
  await Promise.all([...pending].map((deletion) => deletion.send()));
}

/** The page goes away, and nothing can be waited for: the browser sends what is held back all the same. */
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
