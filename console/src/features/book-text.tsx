import { useComputed } from '@preact/signals';
import type { TargetedPointerEvent } from 'preact';
import { formatYear } from '../language/texts.ts';
import { searchedWords } from '../state/view.ts';
import { matchedParts } from '../ui/matched-parts.ts';
import { visibleText } from '../ui/visible-text.ts';
import { useApp } from './use-app.ts';

/** A title or an author on one line, in which what matches the search is marked; `absent` if it is empty. */
export function BookText({ text, absent }: { text: string; absent: string }) {
  const { address } = useApp();
  const searched = useComputed(() => searchedWords(address.view.value.q));
  if (text === '') return <span class="absent">{absent}</span>;
  return (
    // Isolates the direction of the text from its surroundings.
    <span class="text" dir="auto" onPointerEnter={showCutText}>
      {matchedParts(visibleText(text), searched.value).map((part, index) =>
        index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
      )}
    </span>
  );
}

/** Shows the whole of a text that is cut. */
function showCutText({ currentTarget: text }: TargetedPointerEvent<HTMLElement>): void {
  const cut = [text, text.parentElement].some(
    (element) => element && element.scrollWidth > element.clientWidth,
  );
  text.title = cut ? text.innerText : '';
}

export function YearText({ year }: { year: number }) {
  return <span>{formatYear(year)}</span>;
}
