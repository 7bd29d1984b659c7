import { foldText } from '../../../src/book/folded-text.ts';

/** A word of a text that `visibleText` may have changed. */
const WORD = /[^\p{Z}\p{Cc}\p{P}↵⇥␣]+/gu;

/**
 * Splits a text at the beginnings of its words that match a search.
 *
 * @param searched as `searchedWords` returns them
 * @returns parts that do not match and, at odd indexes, parts that do
 */
export function matchedParts(text: string, searched: readonly string[]): string[] {
  const parts: string[] = [];
  let end = 0;
  if (searched.length > 0) {
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const folded = foldText(word).trim();
      const found = searched.filter((beginning) => folded.startsWith(beginning));
      if (found.length === 0) continue;
      const matched = beginningOf(word, Math.max(...found.map(({ length }) => length)));
      parts.push(text.slice(end, index), matched);
      end = index + matched.length;
    }
  }
  return [...parts, text.slice(end)];
}

/** The shortest beginning of a word that has this length when it is folded, with the marks of its last letter. */
function beginningOf(word: string, foldedLength: number): string {
  let beginning = '';
  for (const character of word) {
    if (foldText(beginning).trim().length >= foldedLength && !/\p{M}/u.test(character)) break;
    beginning += character;
  }
  return beginning;
}
