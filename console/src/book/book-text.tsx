import { computed } from '@preact/signals';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { view } from '../page/address.ts';
import { matchedParts, searchedWords } from './matched-parts.ts';
import { visibleText } from './visible-text.ts';

const searched = computed(() => searchedWords(view.value.q));

/** A title or an author on one line, in which what matches the search is marked; `absent` if it is empty. */
export function BookText({ text, absent }: { text: string; absent: string }) {
  if (text === '') return <span class="absent">{absent}</span>;
  return (
    // Isolates the direction of the text from its surroundings.
    <span class="text" dir="auto">
      {matchedParts(visibleText(text), searched.value).map((part, index) =>
        index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
      )}
    </span>
  );
}

export function YearText({ year }: { year: number }) {
  return <span class={year === 0 ? 'absent' : ''}>{formatYear(year)}</span>;
}

/** A year in the current language: `1851`, or `750 BC` for -750. */
export function formatYear(year: number): string {
  return year < 0 ? formatMessage(texts.value.beforeCommonEra, { year: String(-year) }) : String(year);
}
