import { type Signal, useSignal } from '@preact/signals';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import type { EditSession } from '../../state/edit-session.ts';
import { Button } from '../../ui/button.tsx';
import { StepHeading } from '../../ui/dialog.tsx';
import { useApp } from '../use-app.ts';
import { BookField } from './book-field.tsx';

interface BookFormProps {
  readonly edit: EditSession;
  /** Whether the user is asked if the changes are to be discarded. */
  readonly isLeaving: Signal<boolean>;
  readonly onCancel: () => void;
  readonly onHistory: () => void;
  readonly onSave: (isAnother: boolean) => void;
}

export function BookForm({ edit, isLeaving, onCancel, onHistory, onSave }: BookFormProps) {
  const { history, operations, dialogs, isTouched, session, connection } = useApp();
  const isReadOnly = session.isReadOnly.value;
  const form = useRef<HTMLFormElement>(null);
  const focus = (name: string) => form.current?.querySelector<HTMLElement>(`[name=${name}]`)?.focus();
  const focusTitle = () => {
    const isFocused = form.current?.querySelector('[name]:focus');
    // On a phone, the focus would open the keyboard over a book that the user may only want to read.
    if (!isFocused && (edit.id === 'new' || !isTouched.value)) focus('title');
  };
  // At once, before the user may be in another field; in a dialog that opens, when it is open.
  useLayoutEffect(focusTitle, []);
  useEffect(focusTitle, []);
  const t = allTexts.value;
  const { draft, base, error, problem } = edit;
  const isSaving = edit.state.value.kind === 'saving';
  const isSubmitted = useSignal(false);

  function save(event: Event, isAnother = false): void {
    event.preventDefault();
    if (isSaving || isReadOnly) return;
    isSubmitted.value = true;
    if (problem) focus(problem === 'year' ? 'year' : 'title');
    else onSave(isAnother);
  }

  /** Enter saves. In a new book, it goes to the next field, if there is one. */
  function handleEnter(event: Event): void {
    const { name } = event.currentTarget as HTMLInputElement;
    const next = FIELDS[FIELDS.indexOf(name as Field) + 1];
    if (base || isReadOnly || !next) save(event);
    else {
      event.preventDefault();
      focus(next);
    }
  }

  function remove(): void {
    if (!base) return;
    dialogs.close();
    void operations.run('deleted', [{ before: base, after: undefined }]);
  }

  return (
    <form ref={form} class="book-form" onSubmit={save} aria-busy={isSaving}>
      <StepHeading text={isReadOnly ? t.book : base ? t.editBook : t.add} id={base?.id} />
      {FIELDS.map((name) => (
        <BookField key={name} name={name} draft={draft} submit={handleEnter} />
      ))}
      <p class="hint" role="status">
        {edit.otherChange.value && t.otherChange[edit.otherChange.value]}
      </p>
      <p class="error" role="alert">
        {problem === 'long'
          ? t.longText
          : problem === 'nameless' && isSubmitted.value
            ? t.emptyBook
            : isSaving && connection.obstacle.value
              ? t.unsaved[connection.obstacle.value]
              : error.value !== undefined && formatMessage(t.notStored, { reason: explain(error.value) })}
      </p>
      {isLeaving.value ? (
        <Leaving onStay={onCancel} />
      ) : (
        <div class="buttons">
          {base && !isReadOnly && <Button text={t.delete} variant="ghost first danger" onClick={remove} />}
          {base && history.isKept.value && <Button variant="ghost" text={t.history} onClick={onHistory} />}
          <Button text={isReadOnly ? t.close : t.cancel} onClick={onCancel} />
          {!base && <Button text={t.saveAndAddAnother} onClick={(event) => save(event, true)} />}
          {!isReadOnly && (
            <Button
              text={isSaving ? t.saving : t.save}
              variant="primary"
              type="submit"
              aria-disabled={isSaving}
            />
          )}
        </div>
      )}
    </form>
  );
}

/** Asks whether to discard the changes. */
export function Leaving({ onStay }: { readonly onStay: () => void }) {
  const { dialogs } = useApp();
  const stay = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    stay.current?.querySelector('button')?.focus();
    return () => before?.focus();
  }, []);
  const t = allTexts.value;
  return (
    <div ref={stay} class="buttons leaving" role="alertdialog" aria-label={t.discardQuestion}>
      <p class="first">{t.discardQuestion}</p>
      <Button text={t.continueEditing} onClick={onStay} />
      <Button text={t.discard} variant="danger" onClick={() => dialogs.close()} />
    </div>
  );
}
