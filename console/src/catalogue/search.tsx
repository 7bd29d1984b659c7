import { useSignal, useSignalEffect } from '@preact/signals';
import type { TargetedInputEvent, TargetedKeyboardEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { texts } from '../language/language.ts';
import { readInteger, show, type View, view } from '../page/address.ts';

/** How long after the last key something is searched for: people type faster, and no search is wasted on half a word. */
const PAUSE_MS = 150;

/** What is searched for, and between which years. */
export function Search() {
  const t = texts.value;
  return (
    <search class="search">
      <div class="field search-field">
        <label class="unseen" for="search">
          {t.search}
        </label>
        <TypedField id="search" name="q" hint={t.searchHint} read={(text) => ({ q: text })} />
        <span class="key" aria-hidden="true">
          /
        </span>
      </div>
      <fieldset class="years">
        <legend class="unseen">{t.years}</legend>
        <YearField name="from" label={t.yearFrom} />
        <span aria-hidden="true">–</span>
        <YearField name="to" label={t.yearTo} />
      </fieldset>
    </search>
  );
}

function YearField({ name, label }: { name: 'from' | 'to'; label: string }) {
  return (
    <label class="year-field">
      <span class="unseen">{label}</span>
      <TypedField
        id={`year-${name}`}
        name={name}
        hint={label}
        read={(text) => {
          if (text.trim() === '') return { [name]: undefined };
          const year = readInteger(text);
          return year === undefined ? undefined : { [name]: year };
        }}
      />
    </label>
  );
}

interface TypedFieldParts {
  readonly id: string;
  readonly name: 'q' | 'from' | 'to';
  readonly hint: string;
  /** What a text shows; undefined when it means nothing. */
  readonly read: (text: string) => Partial<View> | undefined;
}

/** A field whose text is what is shown, a moment after somebody has typed it. */
function TypedField({ id, name, hint, read }: TypedFieldParts) {
  const text = useSignal(String(view.peek()[name] ?? ''));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The back button, a bar of the chart and links change it, too; what is just being typed stays.
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

  const parts = {
    id,
    name,
    class: name,
    enterkeyhint: 'search',
    autocomplete: 'off',
    spellcheck: false,
    dir: 'auto',
    placeholder: hint,
    value: text.value,
    'aria-invalid': read(text.value) === undefined,
    onInput({ currentTarget }: TargetedInputEvent<HTMLInputElement>) {
      text.value = currentTarget.value;
      clearTimeout(timer.current);
      timer.current = setTimeout(apply, PAUSE_MS);
    },
    // Whoever goes on to something else has typed all there is.
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
  return name === 'q' ? <input type="search" {...parts} /> : <input type="text" {...parts} />;
}
