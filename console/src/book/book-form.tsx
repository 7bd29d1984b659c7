import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { explain } from '../language/explain.ts';
import { formatNumber, texts } from '../language/language.ts';
import { formatYear } from './book-text.tsx';
import type { Editing } from './edit-session.ts';
import { yearOf } from './fields.ts';
import { remove } from './pending-deletions.ts';

/** The fields of a book. */
export function BookForm({ editing, onCancel }: { editing: Editing; onCancel: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // On a phone that would open the keyboard over what somebody perhaps only wants to read.
    const isRead = editing.id !== 'new' && matchMedia('(pointer: coarse)').matches;
    if (!isRead) form.current?.querySelector<HTMLElement>('[name=title]')?.focus();
  }, []);
  const t = texts.value;
  const { typed, base } = editing;
  const isSaving = editing.state.value.is === 'saving';
  const year = yearOf(typed.value);
  const isNew = base === undefined;
  const isEmpty = isNew && `${typed.value.title}${typed.value.author}`.trim() === '';
  const isSubmitted = useSignal(false);

  function submit(event: Event): void {
    event.preventDefault();
    if (isSaving) return;
    isSubmitted.value = true;
    if (isEmpty) form.current?.querySelector<HTMLElement>('[name=title]')?.focus();
    else if (year === undefined) document.getElementById('book-year')?.focus();
    else void editing.save();
  }

  return (
    <form ref={form} class="book-form" onSubmit={submit} aria-busy={isSaving}>
      <h2>
        {isNew ? t.addBook : t.editBook}
        {base && <span class="number">{t.number(formatNumber(base.id))}</span>}
      </h2>
      <TextField name="title" editing={editing} submit={submit} />
      <TextField name="author" editing={editing} submit={submit} />
      <label class="field year">
        <span>{t.columns.year}</span>
        <input
          id="book-year"
          name="year"
          inputMode="text"
          autocomplete="off"
          value={typed.value.year}
          placeholder="0"
          aria-invalid={year === undefined}
          aria-describedby="year-hint"
          onInput={({ currentTarget }) => {
            typed.value = { ...typed.value, year: currentTarget.value };
          }}
        />
      </label>
      <p id="year-hint" class={year === undefined ? 'hint fault' : 'hint'}>
        {year === undefined ? t.noYear : year < 0 ? formatYear(year) : t.yearHint}
      </p>
      <p class="fault" role="alert">
        {isEmpty && isSubmitted.value
          ? t.nothingTyped
          : editing.fault.value !== undefined && t.notStored(explain(editing.fault.value))}
      </p>
      <div class="buttons">
        {base && (
          <button
            type="button"
            class="link danger"
            onClick={() => {
              editing.discard();
              onCancel();
              remove(base);
            }}
          >
            {t.delete}
          </button>
        )}
        <button type="button" class="button" onClick={onCancel}>
          {t.cancel}
        </button>
        <button type="submit" class="button primary" aria-disabled={isSaving}>
          {isSaving ? t.saving : t.save}
        </button>
      </div>
    </form>
  );
}

/** A text of a book. It may have lines; Enter saves nevertheless, as in other forms, and Shift+Enter begins a line. */
function TextField({ name, editing, submit }: TextFieldParts) {
  const { typed } = editing;
  return (
    <label class={`field ${name}`}>
      <span>{texts.value.columns[name]}</span>
      <textarea
        name={name}
        rows={1}
        dir="auto"
        value={typed.value[name]}
        onInput={({ currentTarget }) => {
          typed.value = { ...typed.value, [name]: currentTarget.value };
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
        }}
      />
    </label>
  );
}

interface TextFieldParts {
  readonly name: 'title' | 'author';
  readonly editing: Editing;
  readonly submit: (event: Event) => void;
}
