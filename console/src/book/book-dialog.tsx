// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/book.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { hasHistory } from '../history/history.ts';
import { HistoryView } from '../history/history-views.tsx';
import { allTexts, explain } from '../language/texts.ts';
import { closeBook, showNewest, view } from '../page/address.ts';
import { Button, LinkButton } from '../page/button.tsx';
import { Dialog, StepHeading } from '../page/dialog.tsx';
import { showBriefly } from '../page/toasts.tsx';
import { BookForm } from './book-form.tsx';
import { Conflict } from './conflict.tsx';
import type { EditSession, EditState } from './edit-session.ts';
import { deleteBook, UNDO_MS } from './pending-deletions.ts';
import { keepUnfinished, unfinishedEdit } from './unfinished-edits.ts';

/** The dialog of the book in the view, if there is one. */
export function BookDialog() {
  const { book } = view.value;
  if (book === undefined) return null;
  return <OpenBook key={book} edit={unfinishedEdit(book)} />;
}

function OpenBook({ edit }: { edit: EditSession }) {
  const t = allTexts.value;
  const state = edit.state.value;
  const isHistory = useSignal(false);
  const openHistory = () => (isHistory.value = true);

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
      class={isHistory.value || state.kind === 'conflict' ? 'wide' : ''}
    >
      {isHistory.value && edit.id !== 'new' ? (
        <HistoryView
          id={edit.id}
          onClose={(isRestored = false) => {
            isHistory.value = false;
            if (isRestored) closeBook();
          }}
        />
      ) : state.kind === 'conflict' ? (
        <Conflict edit={edit} theirs={state.theirs} />
      ) : state.kind === 'missing' ? (
        <Missing edit={edit} onHistory={openHistory} />
      ) : state.kind === 'loading' ? (
        <Loading edit={edit} />
      ) : (
        <BookForm edit={edit} onCancel={closeBook} onHistory={openHistory} />
      )}
    </Dialog>
  );
}

function showSaved({ book, isNew }: Extract<EditState, { kind: 'saved' }>): void {
  const action = { label: () => allTexts.value.showNewest, run: showNewest };
  if (isNew) showBriefly({ text: () => allTexts.value.added, undo: () => deleteBook(book), action }, UNDO_MS);
  else showBriefly({ text: () => allTexts.value.saved });
}

function Loading({ edit }: { edit: EditSession }) {
  const t = allTexts.value;
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

function Missing({ edit, onHistory }: { edit: EditSession; onHistory: () => void }) {
  const t = allTexts.value;
  const hasChanges = !edit.isUnchanged && edit.base !== undefined;
  return (
    <>
      <StepHeading text={t.bookMissing} note={hasChanges ? t.bookMissingEdited : t.bookMissingHint} />
      <div class="buttons">
        {hasHistory.value && <LinkButton text={t.history} variant="danger" onClick={onHistory} />}
        <Button text={t.close} onClick={closeBook} />
        {hasChanges && <Button text={t.saveAsNew} variant="primary" onClick={() => edit.becomeNew()} />}
      </div>
    </>
  );
}
