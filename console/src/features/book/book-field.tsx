import type { Signal } from '@preact/signals';
import type { Field } from 'bookkeeping-formats/row.ts';
import { allTexts, formatYear } from '../../language/texts.ts';
import { type FormFields, yearOf } from '../../state/fields.ts';
import { isOfInputMethod } from '../../ui/keys.ts';
import { BookInput } from '../book-input.tsx';
import { useApp } from '../use-app.ts';

interface BookFieldProps {
  readonly name: Field;
  readonly draft: Signal<FormFields>;
  /** Called for Enter. */
  readonly submit: (event: Event) => void;
}

/** A field of a form. Shift+Enter inserts a line break. */
export function BookField({ name, draft, submit }: BookFieldProps) {
  const isReadOnly = useApp().session.isReadOnly.value;
  const year = yearOf(draft.value);
  const isInvalid = name === 'year' && year === undefined;
  const hint = name === 'year' ? hintOfYear(year, isReadOnly) : undefined;
  const attributes = {
    id: `book-${name}`,
    readOnly: isReadOnly,
    'aria-invalid': isInvalid,
    'aria-describedby': hint && `${name}-hint`,
    onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Enter' && !event.shiftKey && !isOfInputMethod(event)) submit(event);
    },
  };
  return (
    <div class={`field ${name}`}>
      <label for={attributes.id}>{allTexts.value.columns[name]}</label>
      <BookInput name={name} draft={draft} attributes={attributes} />
      {hint !== undefined && (
        <p id={`${name}-hint`} class={isInvalid ? 'hint error' : 'hint'}>
          {hint}
        </p>
      )}
    </div>
  );
}

function hintOfYear(year: number | undefined, isReadOnly: boolean): string {
  if (year === undefined) return allTexts.value.invalidYear;
  if (year < 0) return formatYear(year);
  return isReadOnly ? '' : allTexts.value.yearHint;
}
