import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hasHistory } from '../history/history.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { Button, LinkButton } from '../page/button.tsx';
import { StepHeading } from '../page/dialog.tsx';
import { formatYear } from './book-text.tsx';
import type { EditSession } from './edit-session.ts';
import { yearOf } from './fields.ts';
import { deleteBook } from './pending-deletions.ts';

interface BookFormProps {
  readonly edit: EditSession;
  readonly onCancel: () => void;
  readonly onHistory: () => void;
}

export function BookForm({ edit, onCancel, onHistory }: BookFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const focus = (name: string) => form.current?.querySelector<HTMLElement>(`[name=${name}]`)?.focus();
  useEffect(() => {
    // On a phone, the focus would open the keyboard over a book that the user may only want to read.
    if (edit.id === 'new' || !matchMedia('(pointer: coarse)').matches) focus('title');
  }, []);
  const t = allTexts.value;
  const { draft, base, error } = edit;
  const isSaving = edit.state.value.kind === 'saving';
  const year = yearOf(draft.value);
  const isEmpty = base === undefined && `${draft.value.title}${draft.value.author}`.trim() === '';
  const isSubmitted = useSignal(false);

  function submit(event: Event): void {
    event.preventDefault();
    if (isSaving) return;
    isSubmitted.value = true;
    if (isEmpty) focus('title');
    else if (year === undefined) focus('year');
    else void edit.save();
  }

  return (
    <form ref={form} class="book-form" onSubmit={submit} aria-busy={isSaving}>
      <StepHeading text={base ? t.editBook : t.add} id={base?.id} />
      <TextField name="title" edit={edit} submit={submit} />
      <TextField name="author" edit={edit} submit={submit} />
      <label class="field year">
        <span>{t.columns.year}</span>
        <input
          name="year"
          inputMode="text"
          autocomplete="off"
          value={draft.value.year}
          placeholder="0"
          aria-invalid={year === undefined}
          aria-describedby="year-hint"
          onInput={({ currentTarget }) => {
            draft.value = { ...draft.value, year: currentTarget.value };
          }}
        />
      </label>
      <p id="year-hint" class={year === undefined ? 'hint error' : 'hint'}>
        {year === undefined ? t.invalidYear : year < 0 ? formatYear(year) : t.yearHint}
      </p>
      <p class="hint" role="status">
        {edit.otherChange.value && t.otherChange[edit.otherChange.value]}
      </p>
      <p class="error" role="alert">
        {isEmpty && isSubmitted.value
          ? t.emptyBook
          : error.value !== undefined && formatMessage(t.notStored, { reason: explain(error.value) })}
      </p>
      <div class="buttons">
        {base && (
          <LinkButton
            text={t.delete}
            variant="danger"
            onClick={() => {
              edit.discard();
              onCancel();
              deleteBook(base);
            }}
          />
        )}
        {base && hasHistory.value && <LinkButton text={t.history} onClick={onHistory} />}
        <Button text={t.cancel} onClick={onCancel} />
        <Button
          text={isSaving ? t.saving : t.save}
          variant="primary"
          type="submit"
          aria-disabled={isSaving}
        />
      </div>
    </form>
  );
}

interface TextFieldProps {
  readonly name: 'title' | 'author';
  readonly edit: EditSession;
  readonly submit: (event: Event) => void;
}

/** A text that may have several lines: Shift+Enter inserts a line break, Enter saves. */
function TextField({ name, edit: { draft }, submit }: TextFieldProps) {
  return (
    <label class={`field ${name}`}>
      <span>{allTexts.value.columns[name]}</span>
      <textarea
        name={name}
        rows={1}
        dir="auto"
        value={draft.value[name]}
        onInput={({ currentTarget }) => {
          draft.value = { ...draft.value, [name]: currentTarget.value };
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
        }}
      />
    </label>
  );
}
