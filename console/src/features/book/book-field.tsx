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
  readonly hint?: string;
  readonly submit: (event: Event) => void;
}

/**
 * A field of a form. A text may have several lines: Shift+Enter inserts a line break, Enter saves. An author on one line is
 * suggested.
 */
export function BookField({ name, draft, hint, submit }: BookFieldProps) {
  const isReadOnly = useApp().session.isReadOnly.value;
  const t = allTexts.value;
  const text = draft.value[name];
  const isSuggested = useRef(name === 'author' && !isReadOnly && hasSuggestions(text)).current;
  const isInvalid = name === 'year' && yearOf(draft.value) === undefined;
  const shownHint = name === 'year' ? hintOfYear(yearOf(draft.value), isReadOnly) : hint;
  const props = {
    id: `book-${name}`,
    name,
    dir: 'auto',
    autocomplete: 'off',
    readOnly: isReadOnly,
    value: text,
    'aria-invalid': isInvalid,
    'aria-describedby': shownHint && `${name}-hint`,
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
        <textarea
          {...props}
          rows={1}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
          }}
        />
      )}
      {isSuggested && <AuthorSuggestions id="authors" text={text} />}
      {shownHint !== undefined && (
        <p id={`${name}-hint`} class={isInvalid ? 'hint error' : 'hint'}>
          {shownHint}
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
