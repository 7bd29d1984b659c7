import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { explain, texts } from '../language/texts.ts';
import { closeBook, show, showNewest, view } from '../page/address.ts';
import { Button } from '../page/button.tsx';
import { Dialog } from '../page/dialog.tsx';
import { showBriefly } from '../page/toasts.tsx';
import { session } from '../session/session.ts';
import { BookForm } from './book-form.tsx';
import { Conflict } from './conflict.tsx';
import { EditSession, type EditState } from './edit-session.ts';
import { remove, UNDO_MS } from './pending-deletions.ts';

/** The unfinished edits, by the id of the book. */
const edits = new Map<number | 'new', EditSession>();

effect(() => {
  if (session.value === 'out') edits.clear();
});

// Has the browser ask before unsaved changes are lost.
addEventListener('beforeunload', (event) => {
  if ([...edits.values()].some((edit) => !edit.isUnchanged)) event.preventDefault();
});

/** The dialog of the book in the address bar, if there is one. */
export function BookDialog() {
  const { book } = view.value;
  if (book === undefined) return null;
  const edit = edits.get(book) ?? new EditSession(book);
  edits.set(book, edit);
  return <OpenBook key={book} edit={edit} />;
}

function OpenBook({ edit }: { edit: EditSession }) {
  const t = texts.value;
  const state = edit.state.value;

  useEffect(() => {
    if (state.is !== 'saved') return;
    closeBook();
    showSaved(state);
  }, [state.is]);
  // The dialog may also be closed by the back button.
  useEffect(() => () => keepUnfinished(edit), []);

  return (
    <Dialog
      label={edit.id === 'new' ? t.add : t.editBook}
      onDismiss={closeBook}
      class={state.is === 'conflict' ? 'wide' : ''}
    >
      {state.is === 'conflict' ? (
        <Conflict edit={edit} theirs={state.theirs} />
      ) : state.is === 'missing' ? (
        <Missing edit={edit} />
      ) : state.is === 'loading' ? (
        <Loading edit={edit} />
      ) : (
        <BookForm edit={edit} onCancel={closeBook} />
      )}
    </Dialog>
  );
}

function showSaved({ book, isNew }: Extract<EditState, { is: 'saved' }>): void {
  const action = { label: () => texts.value.showNewest, run: showNewest };
  if (isNew) showBriefly({ text: () => texts.value.added, undo: () => remove(book), action }, UNDO_MS);
  else showBriefly({ text: () => texts.value.saved });
}

function keepUnfinished({ id, state, isUnchanged }: EditSession): void {
  if (isUnchanged || state.value.is === 'saved') edits.delete(id);
  else if (session.value !== 'out')
    showBriefly({
      text: () => texts.value.notSaved,
      action: { label: () => texts.value.continueEditing, run: () => show({ book: id }) },
    });
}

function Loading({ edit }: { edit: EditSession }) {
  const t = texts.value;
  const { value: fault } = edit.fault;
  return (
    <>
      <h2>{t.editBook}</h2>
      <p class="quiet">{fault === undefined ? t.loading : explain(fault)}</p>
      <div class="buttons">
        <Button text={t.close} onClick={closeBook} />
        {fault !== undefined && <Button text={t.tryAgain} is="primary" onClick={() => void edit.load()} />}
      </div>
    </>
  );
}

function Missing({ edit }: { edit: EditSession }) {
  const t = texts.value;
  const hasChanges = !edit.isUnchanged && edit.base !== undefined;
  return (
    <>
      <h2>{t.bookMissing}</h2>
      <p class="quiet">{hasChanges ? t.bookMissingTyped : t.bookMissingHint}</p>
      <div class="buttons">
        <Button text={t.close} onClick={closeBook} />
        {hasChanges && <Button text={t.saveAsNew} is="primary" onClick={() => edit.becomeNew()} />}
      </div>
    </>
  );
}
