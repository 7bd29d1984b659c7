import type { Signal } from '@preact/signals';
import type { TargetedInputEvent } from 'preact';
import { useRef } from 'preact/hooks';
import type { Field } from '../../../../src/formats/row.ts';
import { allTexts, formatYear } from '../../language/texts.ts';
import { type FormFields, yearOf } from '../../state/fields.ts';
import { AuthorSuggestions, hasSuggestions } from '../author-suggestions.tsx';
import { useApp } from '../use-app.ts';

interface BookFieldProps {
  readonly name: Field;
  readonly draft: Signal<FormFields>;
  /** Called for Enter. */
  readonly submit: (event: Event) => void;
}

/**
 * A field of a form. A text may have several lines: Shift+Enter inserts a line break. An author on one line is suggested.
 */
export function BookField({ name, draft, submit }: BookFieldProps) {
  const isReadOnly = useApp().session.isReadOnly.value;
  const t = allTexts.value;
  const text = draft.value[name];
  const isSuggested = useRef(name === 'author' && !isReadOnly && hasSuggestions(text)).current;
  const isInvalid = name === 'year' && yearOf(draft.value) === undefined;
  const hint = name === 'year' ? hintOfYear(yearOf(draft.value), isReadOnly) : undefined;
  const props = {
    id: `book-${name}`,
    name,
    dir: 'auto',
    autocomplete: 'off',
    readOnly: isReadOnly,
    value: text,
    'aria-invalid': isInvalid,
    'aria-describedby': hint && `${name}-hint`,
    onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
    },
    onInput({ currentTarget }: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) {
      draft.value = { ...draft.value, [name]: currentTarget.value };
    },
  } as const;
  return (
    <div class={`field ${name}`}>
      <label for={props.id}>{t.columns[name]}</label>
      {name === 'year' || isSuggested ? (
        <input {...props} list={isSuggested ? 'authors' : undefined} />
      ) : (
        <textarea {...props} rows={1} />
      )}
      {isSuggested && <AuthorSuggestions id="authors" text={text} />}
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
