import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { allTexts, explain } from '../../language/texts.ts';
import { EditSession } from '../../state/edit-session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, StepHeading } from '../../ui/dialog.tsx';
import { History } from '../history/history.tsx';
import { useApp } from '../use-app.ts';
import { BookForm, Leaving } from './book-form.tsx';
import { Conflict } from './conflict.tsx';

/** The dialog of a book, or of a new one. What is closed without saving is discarded, after a question. */
export function BookDialog({ id }: { readonly id: number | 'new' }) {
  const app = useApp();
  const { dialogs, address, list, unsaved, session: user } = app;
  const t = allTexts.value;
  const edit = useSignal(useMemo(() => app.cells.take(id) ?? new EditSession(app, id), []));
  const { value: session } = edit;
  const { value: state } = session.state;
  const isLeaving = useSignal(false);
  const isHistory = useSignal(false);
  const addsAnother = useSignal(false);

  /** Asks before changes are lost. @returns whether there are none */
  function mayClose(): boolean {
    const isUnsaved = !edit.value.isUnchanged && edit.value.state.value.kind !== 'saved';
    isLeaving.value = isUnsaved && !isLeaving.value;
    return !isUnsaved;
  }

  function dismiss(): void {
    if (mayClose()) dialogs.close();
  }

  useEffect(() => {
    const isUnsaved = () => !edit.value.isUnchanged;
    address.mayCloseBook = mayClose;
    unsaved.add(isUnsaved);
    return () => {
      edit.peek().cancel();
      address.mayCloseBook = () => true;
      unsaved.delete(isUnsaved);
    };
  }, []);

  useSignalEffect(() => {
    if (typeof id === 'number' && app.history.received.value.has(id)) void edit.peek().follow();
  });

  useEffect(() => {
    if (state.kind !== 'saved') return;
    if (addsAnother.value) {
      addsAnother.value = false;
      edit.value = new EditSession(app, 'new');
      return;
    }
    dialogs.close();
    // After the dialog has returned the focus.
    setTimeout(() => void list.reveal(state.book, { isNear: true }));
  }, [state]);

  const openHistory = () => (isHistory.value = true);
  const closeHistory = () => {
    isHistory.value = false;
    // It may have been restored.
    if (state.kind === 'missing' && session.isUnchanged) void session.load();
  };
  return (
    <Dialog
      label={id === 'new' ? t.add : user.isReadOnly.value ? t.book : t.editBook}
      onDismiss={isHistory.value ? closeHistory : dismiss}
      class={isHistory.value || state.kind === 'conflict' ? 'wide' : ''}
    >
      {isHistory.value && id !== 'new' ? (
        <History id={id} closeText={t.back} onClose={closeHistory} />
      ) : state.kind === 'conflict' ? (
        <Conflict edit={session} theirs={state.theirs} />
      ) : state.kind === 'missing' ? (
        <Missing edit={session} onHistory={openHistory} />
      ) : state.kind === 'loading' ? (
        <Loading edit={session} />
      ) : (
        <BookForm
          key={session}
          edit={session}
          isLeaving={isLeaving}
          onCancel={dismiss}
          onHistory={openHistory}
          onSave={(isAnother) => {
            addsAnother.value = isAnother;
            void session.save();
          }}
        />
      )}
      {isLeaving.value && state.kind === 'conflict' && <Leaving onStay={dismiss} />}
    </Dialog>
  );
}

function Loading({ edit }: { edit: EditSession }) {
  const { dialogs } = useApp();
  const t = allTexts.value;
  const { value: error } = edit.error;
  return (
    <>
      <h2>{t.editBook}</h2>
      <p class="quiet">{error === undefined ? t.loading : explain(error)}</p>
      <div class="buttons">
        <Button text={t.close} onClick={() => dialogs.close()} />
        {error !== undefined && (
          <Button text={t.tryAgain} variant="primary" onClick={() => void edit.load()} />
        )}
      </div>
    </>
  );
}

function Missing({ edit, onHistory }: { edit: EditSession; onHistory: () => void }) {
  const { dialogs, history } = useApp();
  const t = allTexts.value;
  const hasChanges = !edit.isUnchanged && edit.base !== undefined;
  return (
    <>
      <StepHeading text={t.bookMissing} note={hasChanges ? t.bookMissingEdited : t.bookMissingHint} />
      <div class="buttons">
        {history.isKept.value && <Button text={t.history} variant="ghost first" onClick={onHistory} />}
        <Button text={t.close} onClick={() => dialogs.close()} />
        {hasChanges && <Button text={t.saveAsNew} variant="primary" onClick={() => edit.becomeNew()} />}
      </div>
    </>
  );
}
