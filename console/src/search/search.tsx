import { useSignal, useSignalEffect } from '@preact/signals';
import type { TargetedInputEvent, TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { ChartToggle } from '../chart/chart-toggle.tsx';
import { texts } from '../language/texts.ts';
import { readInteger, show, type View, view } from '../page/address.ts';

/** The delay between the last key and the search. */
const DEBOUNCE_MS = 100;

export function Search() {
  const t = texts.value;
  return (
    <search class="search">
      <div class="field search-field">
        <label class="visually-hidden" for="search">
          {t.search}
        </label>
        <QueryField id="search" name="q" hint={t.search} read={(text) => ({ q: text })} />
        <span class="key" aria-hidden="true">
          /
        </span>
      </div>
      <fieldset class="years">
        <legend class="visually-hidden">{t.years}</legend>
        <YearField name="from" label={t.yearFrom} />
        <span aria-hidden="true">–</span>
        <YearField name="to" label={t.yearTo} />
      </fieldset>
      <ChartToggle />
    </search>
  );
}

function YearField({ name, label }: { name: 'from' | 'to'; label: string }) {
  const { from, to } = view.value;
  const areReversed = name === 'to' && from !== undefined && to !== undefined && from > to;
  return (
    <div class="year-field">
      <label class="visually-hidden" for={`year-${name}`}>
        {label}
      </label>
      <QueryField
        id={`year-${name}`}
        name={name}
        hint={label}
        read={(text) => {
          if (text.trim() === '') return { [name]: undefined };
          const year = readInteger(text);
          return year === undefined ? undefined : { [name]: year };
        }}
        explain={(text) => explainYear(text) ?? (areReversed ? texts.value.yearsReversed : '')}
      />
    </div>
  );
}

/** What is wrong with the text of a year; undefined if nothing is. */
function explainYear(text: string): string | undefined {
  if (text.trim() === '' || readInteger(text) !== undefined) return undefined;
  return /^\s*[-−]?[0-9]+\s*$/.test(text) ? texts.value.yearTooLarge : texts.value.invalidYear;
}

interface QueryFieldProps {
  readonly id: string;
  readonly name: 'q' | 'from' | 'to';
  readonly hint: string;
  /** The change of the view for a text; undefined when the text is invalid. */
  readonly read: (text: string) => Partial<View> | undefined;
  /** What is wrong with a text; '' if nothing is. */
  readonly explain?: (text: string) => string;
}

/** A field whose text is applied to the view shortly after it is typed. */
function QueryField({ id, name, hint, read, explain = () => '' }: QueryFieldProps) {
  const text = useSignal(String(view.peek()[name] ?? ''));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // Does not replace a text that is being typed.
  useSignalEffect(() => {
    const shown = String(view.value[name] ?? '');
    const typed = read(text.peek());
    if (timer.current === undefined && String(typed?.[name] ?? '') !== shown) text.value = shown;
  });

  function apply(): void {
    clearTimeout(timer.current);
    timer.current = undefined;
    const changes = read(text.value);
    if (changes) show(changes, 'type');
  }

  const problem = explain(text.value);
  const props = {
    id,
    name,
    class: name,
    enterkeyhint: 'search',
    autocomplete: 'off',
    spellcheck: false,
    dir: 'auto',
    placeholder: hint,
    value: text.value,
    'aria-invalid': problem !== '',
    'aria-describedby': `${id}-problem`,
    onInput({ currentTarget }: TargetedInputEvent<HTMLInputElement>) {
      text.value = currentTarget.value;
      clearTimeout(timer.current);
      timer.current = setTimeout(apply, DEBOUNCE_MS);
    },
    onBlur() {
      if (timer.current !== undefined) apply();
    },
    onKeyDown({ key, currentTarget }: TargetedKeyboardEvent<HTMLInputElement>) {
      if (key === 'Enter') apply();
      if (key !== 'Escape') return;
      if (text.value === '') currentTarget.blur();
      text.value = '';
      apply();
    },
  } as const;
  if (name === 'q') return <input type="search" {...props} />;
  return (
    <>
      <input type="text" {...props} />
      <p class="error" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    </>
  );
}
