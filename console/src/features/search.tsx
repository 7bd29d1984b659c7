import { useSignal, useSignalEffect } from '@preact/signals';
import type { TargetedInputEvent, TargetedKeyboardEvent, TargetedToggleEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { formatYear, texts } from '../language/texts.ts';
import { readYear } from '../state/fields.ts';
import { request } from '../state/found-books.ts';
import { columnOf, SORTS } from '../state/sort.ts';
import { hasTooManyWords, type View, WORDS_MAX } from '../state/view.ts';
import { focusBooks } from '../ui/dialog.tsx';
import { isOfInputMethod } from '../ui/keys.ts';
import { useApp } from './use-app.ts';

/** The delay between the last key and the search. */
const DEBOUNCE_MS = 100;

/** The search, and a button that opens its years; on a narrow screen also the order. */
export function Search() {
  const { isNarrow, address } = useApp();
  const { from, to } = address.view.value;
  const t = texts.value;
  const name = isNarrow.value ? t.filter : t.years;
  const isFiltered = from !== undefined || to !== undefined;
  const range = `${yearText(from)} – ${yearText(to)}`.trim();
  return (
    <search>
      <SearchField />
      <button
        type="button"
        class={`button chip ${isFiltered ? 'active' : ''}`}
        popovertarget="filters"
        aria-label={isFiltered ? `${name}: ${range}` : undefined}
      >
        {isFiltered && !isNarrow.value ? range : name}
      </button>
      <div
        id="filters"
        class="menu card"
        popover="auto"
        onToggle={({ newState, currentTarget }: TargetedToggleEvent<HTMLElement>) => {
          if (newState === 'open' && !isNarrow.value) currentTarget.querySelector('input')?.focus();
        }}
      >
        <Years />
        {isNarrow.value && <SortMenu />}
      </div>
    </search>
  );
}

/** A bound of the years; the year 0, which is shown as an unknown one elsewhere, is a bound like others. */
function yearText(year: number | undefined): string {
  return year === undefined ? '' : formatYear(year) || '0';
}

function Years() {
  const t = texts.value;
  return (
    <fieldset class="years">
      <legend class="visually-hidden">{t.years}</legend>
      <YearField name="from" label={t.yearFrom} />
      <span aria-hidden="true">–</span>
      <YearField name="to" label={t.yearTo} />
    </fieldset>
  );
}

/** The menu of sort orders, for screens on which the table has no header. */
function SortMenu() {
  const { address } = useApp();
  const t = texts.value;
  return (
    <label class="choice">
      <span>{t.sortBy}</span>
      <select
        value={address.view.value.sort}
        onChange={({ currentTarget }) => address.show({ sort: currentTarget.value as View['sort'] })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t.columns[columnOf(sort)]} {sort === columnOf(sort) ? '↑' : '↓'}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A place in the list instead of a search: `#1234` for a number, `/m` for the first book from a text or a year on. */
const PLACE = /^\s*([#/])\s*(.*?)\s*$/;

function SearchField() {
  const { address, list, client } = useApp();
  const cancel = useRef(() => {});
  const isNowhere = useSignal(false);

  /** The first book of a place, or from it on; undefined when there is none. */
  async function find(sign: string, text: string, abort: AbortSignal): Promise<number | undefined> {
    const column = columnOf(address.view.value.sort);
    if (sign === '/') {
      const from = column === 'year' ? readYear(text) : text;
      return from === undefined ? undefined : await list.findRow(from, abort);
    }
    const book = /^[0-9]{1,15}$/.test(text) ? await client.find(Number(text), { signal: abort }) : undefined;
    if (!book) return undefined;
    const row = await list.findRow(book[column], abort, book.id);
    return list.at(row)?.id === book.id ? row : undefined;
  }

  /** Shows a place. @param leave is called when its book gets the focus; undefined while the user may be typing */
  function goTo([, sign = '', text = '']: readonly string[], leave: (() => void) | undefined): void {
    const isByNumber = columnOf(address.view.value.sort) === 'id';
    address.show({ q: '', ...(sign === '/' && isByNumber && text !== '' && { sort: 'title' }) }, 'type');
    if (text === '') return;
    cancel.current = request(async (abort) => {
      const row = await find(sign, text, abort);
      abort.throwIfAborted();
      if (row === undefined) isNowhere.value = true;
      else {
        list.target.value = { row, isFocused: leave !== undefined, isFirst: true };
        leave?.();
      }
    });
  }

  return (
    <div class="field search-field">
      <label class="visually-hidden" for="search">
        {texts.value.search}
      </label>
      <QueryField
        id="search"
        name="q"
        hint={texts.value.search}
        read={(text) => (PLACE.test(text) || hasTooManyWords(text) ? undefined : { q: text })}
        onApply={(text, isSubmitted, clear) => {
          const place = PLACE.exec(text);
          cancel.current();
          isNowhere.value = false;
          if (place) goTo(place, isSubmitted ? clear : undefined);
        }}
        explain={(text) => {
          if (hasTooManyWords(text)) return formatMessage(texts.value.tooManyWords, { max: WORDS_MAX });
          return isNowhere.value ? texts.value.noPlace : '';
        }}
      />
    </div>
  );
}

function YearField({ name, label }: { name: 'from' | 'to'; label: string }) {
  const { from, to } = useApp().address.view.value;
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
          const year = readYear(text);
          return year === undefined ? undefined : { [name]: year };
        }}
        explain={(text) => explainYear(text) ?? (areReversed ? texts.value.yearsReversed : '')}
      />
    </div>
  );
}

/** What is wrong with the text of a year; undefined if nothing is. */
function explainYear(text: string): string | undefined {
  if (text.trim() === '' || readYear(text) !== undefined) return undefined;
  return /^\s*[-−]?[0-9]+\s*$/.test(text) ? texts.value.yearTooLarge : texts.value.invalidYear;
}

interface QueryFieldProps {
  readonly id: string;
  readonly name: 'q' | 'from' | 'to';
  readonly hint: string;
  /** The change of the view for a text; undefined when there is none. */
  readonly read: (text: string) => Partial<View> | undefined;
  /** What is wrong with a text; '' if nothing is. */
  readonly explain: (text: string) => string;
  /** @param clear removes the text */
  readonly onApply?: (text: string, isSubmitted: boolean, clear: () => void) => void;
}

/** A field whose text is applied to the view shortly after it is typed. */
function QueryField({ id, name, hint, read, explain, onApply }: QueryFieldProps) {
  const { address } = useApp();
  const { view } = address;
  const text = useSignal(String(view.peek()[name] ?? ''));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // Does not replace a text that is being typed, nor one that changes nothing.
  useSignalEffect(() => {
    const shown = String(view.value[name] ?? '');
    const typed = read(text.peek());
    const isSame = String(typed?.[name] ?? '') === shown;
    if (timer.current === undefined && !isSame) text.value = shown;
  });

  function apply(isSubmitted = false): void {
    clearTimeout(timer.current);
    timer.current = undefined;
    const changes = read(text.value);
    if (changes) address.show(changes, 'type');
    onApply?.(text.value, isSubmitted, () => (text.value = ''));
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
    onKeyDown(event: TargetedKeyboardEvent<HTMLInputElement>) {
      const { key, currentTarget } = event;
      if (isOfInputMethod(event)) return;
      const popover = currentTarget.closest<HTMLElement>('[popover]');
      if (key === 'Enter') {
        // Its button gets the focus, and would open it again.
        event.preventDefault();
        apply(true);
        if (explain(text.value) === '') popover?.hidePopover();
      }
      // That closes a popover.
      if (key !== 'Escape' || popover) return;
      if (text.value === '') focusBooks();
      text.value = '';
      apply();
    },
  } as const;
  return (
    <>
      {name === 'q' ? <input type="search" {...props} /> : <input type="text" {...props} />}
      <p class="error" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    </>
  );
}
