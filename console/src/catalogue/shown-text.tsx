import { visibleText } from '../book/visible-text.ts';

/** A title or an author in one line, whatever it consists of; what is empty is said in words. */
export function ShownText({ text, absent }: { text: string; absent: string }) {
  if (text === '') return <span class="absent">{absent}</span>;
  return (
    // The direction is that of the text itself, and does not turn what stands around it.
    <span class="text" dir="auto">
      {visibleText(text)}
    </span>
  );
}
