import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Book } from '../../../src/client/index.ts';
import { explain } from '../language/explain.ts';
import { texts } from '../language/language.ts';
import { closeBook, show, showNewest, view } from '../page/address.ts';
import { Dialog } from '../page/dialog.tsx';
import { tellForAWhile } from '../page/toasts.tsx';
import { session } from '../session/session.ts';
import { BookForm } from './book-form.tsx';
import { Conflict } from './conflict.tsx';
import { Editing } from './edit-session.ts';
import { remove, UNDO_MS } from './pending-deletions.ts';

/** What somebody has begun and not finished, by the id of the book. */
const begun = new Map<number | 'new', Editing>();

effect(() => {
  if (session.value === 'out') begun.clear();
});

// Leaving the page would lose what only it knows.
addEventListener('beforeunload', (event) => {
  if ([...begun.values()].some((editing) => !editing.isUnchanged)) event.preventDefault();
});

/** The dialog of the book in the address bar, if there is one. */
export function BookDialog() {
  const { book } = view.value;
  if (book === undefined) return null;
  const editing = begun.get(book) ?? new Editing(book);
  begun.set(book, editing);
  return <OpenBook key={book} editing={editing} />;
}

function OpenBook({ editing }: { editing: Editing }) {
  const t = texts.value;
  const state = editing.state.value;

  useEffect(() => {
    if (state.is !== 'saved') return;
    closeBook();
    if (state.isNew) tellAdded(state.book);
    else tellForAWhile({ text: () => texts.value.saved });
  }, [state.is]);
  // However the dialog is left, by the back button as well: what is unfinished stays to be gone on with.
  useEffect(() => () => leave(editing), []);

  const label = editing.id === 'new' ? t.addBook : t.editBook;
  return (
    <Dialog label={label} onDismiss={closeBook} class={state.is === 'conflict' ? 'wide' : ''}>
      {state.is === 'conflict' ? (
        <Conflict editing={editing} theirs={state.theirs} />
      ) : state.is === 'missing' ? (
        <Missing editing={editing} onClose={closeBook} />
      ) : state.is === 'loading' ? (
        <>
          <h2>{label}</h2>
          <p class="quiet">{editing.fault.value === undefined ? t.loading : explain(editing.fault.value)}</p>
          <div class="buttons">
            <button type="button" class="button" onClick={closeBook}>
              {t.close}
            </button>
            {editing.fault.value !== undefined && (
              <button
                type="button"
                class="button primary"
                onClick={() => void editing.load(Number(editing.id))}
              >
                {t.tryAgain}
              </button>
            )}
          </div>
        </>
      ) : (
        <BookForm editing={editing} onCancel={closeBook} />
      )}
    </Dialog>
  );
}

function leave(editing: Editing): void {
  const { id, state, isUnchanged } = editing;
  if (isUnchanged || state.value.is === 'saved') {
    begun.delete(id);
    return;
  }
  if (session.value === 'out') return;
  tellForAWhile({
    text: () => texts.value.notSaved,
    action: { label: () => texts.value.goOn, run: () => show({ book: id }) },
  });
}

function tellAdded(book: Book): void {
  const undo = () => remove(book);
  const action = { label: () => texts.value.showNewest, run: showNewest };
  tellForAWhile({ text: () => texts.value.added, undo, action }, UNDO_MS);
}

/** There is no such book, or not any more. */
function Missing({ editing, onClose }: { editing: Editing; onClose: () => void }) {
  const t = texts.value;
  const hasTyped = !editing.isUnchanged && editing.base !== undefined;
  return (
    <>
      <h2>{t.bookMissing}</h2>
      <p class="quiet">{hasTyped ? t.bookMissingTyped : t.bookMissingHint}</p>
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          {t.close}
        </button>
        {hasTyped && (
          <button type="button" class="button primary" onClick={() => editing.createAnew()}>
            {t.createAnew}
          </button>
        )}
      </div>
    </>
  );
}
