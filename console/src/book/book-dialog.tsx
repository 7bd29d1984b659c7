import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { explain, texts } from '../language/texts.ts';
import { closeBook, show, showNewest, view } from '../page/address.ts';
import { Button } from '../page/button.tsx';
import { Dialog, StepHeading } from '../page/dialog.tsx';
import { showBriefly } from '../page/toasts.tsx';
import { signInState } from '../session/session.ts';
import { BookForm } from './book-form.tsx';
import { Conflict } from './conflict.tsx';
import { EditSession, type EditState } from './edit-session.ts';
import { deleteBook, UNDO_MS } from './pending-deletions.ts';

/** The unfinished edits, by the id of the book. */
const edits = new Map<number | 'new', EditSession>();

effect(() => {
  if (signInState.value === 'out') edits.clear();
});

// Makes the browser warn before unsaved changes are lost.
addEventListener('beforeunload', (event) => {
  if ([...edits.values()].some((edit) => !edit.isUnchanged)) event.preventDefault();
});

/** The dialog of the book in the view, if there is one. */
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
    if (state.kind !== 'saved') return;
    closeBook();
    showSaved(state);
  }, [state.kind]);
  // The back button also closes the dialog.
  useEffect(() => () => keepUnfinished(edit), []);

  return (
    <Dialog
      label={edit.id === 'new' ? t.add : t.editBook}
      onDismiss={closeBook}
      class={state.kind === 'conflict' ? 'wide' : ''}
    >
      {state.kind === 'conflict' ? (
        <Conflict edit={edit} theirs={state.theirs} />
      ) : state.kind === 'missing' ? (
        <Missing edit={edit} />
      ) : state.kind === 'loading' ? (
        <Loading edit={edit} />
      ) : (
        <BookForm edit={edit} onCancel={closeBook} />
      )}
    </Dialog>
  );
}

function showSaved({ book, isNew }: Extract<EditState, { kind: 'saved' }>): void {
  const action = { label: () => texts.value.showNewest, run: showNewest };
  if (isNew) showBriefly({ text: () => texts.value.added, undo: () => deleteBook(book), action }, UNDO_MS);
  else showBriefly({ text: () => texts.value.saved });
}

/** Continues an edit in the dialog: now, or when the user chooses to. */
export function continueInDialog(edit: EditSession, isNow: boolean): void {
  edits.set(edit.id, edit);
  if (isNow) show({ book: edit.id });
  else keepUnfinished(edit);
}

function keepUnfinished({ id, state, isUnchanged }: EditSession): void {
  if (isUnchanged || state.value.kind === 'saved') edits.delete(id);
  else if (signInState.value !== 'out')
    showBriefly({
      text: () => texts.value.notSaved,
      action: { label: () => texts.value.continueEditing, run: () => show({ book: id }) },
    });
}

function Loading({ edit }: { edit: EditSession }) {
  const t = texts.value;
  const { value: error } = edit.error;
  return (
    <>
      <h2>{t.editBook}</h2>
      <p class="quiet">{error === undefined ? t.loading : explain(error)}</p>
      <div class="buttons">
        <Button text={t.close} onClick={closeBook} />
        {error !== undefined && (
          <Button text={t.tryAgain} variant="primary" onClick={() => void edit.load()} />
        )}
      </div>
    </>
  );
}

function Missing({ edit }: { edit: EditSession }) {
  const t = texts.value;
  const hasChanges = !edit.isUnchanged && edit.base !== undefined;
  return (
    <>
      <StepHeading text={t.bookMissing} note={hasChanges ? t.bookMissingEdited : t.bookMissingHint} />
      <div class="buttons">
        <Button text={t.close} onClick={closeBook} />
        {hasChanges && <Button text={t.saveAsNew} variant="primary" onClick={() => edit.becomeNew()} />}
      </div>
    </>
  );
}
