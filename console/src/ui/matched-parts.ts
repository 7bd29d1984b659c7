import { foldText, hasUnspaced, startsAnywhere } from '../../../src/book/folded-text.ts';

/** A word of a text that `visibleText` may have changed. */
const WORD = /[^\p{Z}\p{Cc}\p{P}↵⇥␣]+/gu;
/** A character with its marks, which may change what it is folded to. */
const CHARACTER = /.[\p{M}ﾞﾟ]*/gsu;

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
      for (const [from, to] of matchesIn(word, searched)) {
        parts.push(text.slice(end, index + from), text.slice(index + from, index + to));
        end = index + to;
      }
    }
  }
  return [...parts, text.slice(end)];
}

/** The places of the matches in a word between spaces, within which other words may begin. */
function matchesIn(word: string, searched: readonly string[]): (readonly [from: number, to: number])[] {
  const characters = word.match(CHARACTER) ?? [];
  const folded = characters.map(foldText);
  const foldedWord = folded.join('');
  const matches: [from: number, to: number][] = [];
  let [place, foldedPlace, foldedEnd] = [0, 0, 0];
  for (const [index, character] of characters.entries()) {
    const letters = folded[index] ?? '';
    const start = foldedPlace + letters.length - letters.trimStart().length;
    if (start >= foldedEnd && beginsWord(letters, folded[index - 1] ?? ' ')) {
      const found = searched.filter((beginning) => foldedWord.startsWith(beginning, start));
      if (found.length > 0) {
        matches.push([place, place]);
        foldedEnd = start + Math.max(...found.map(({ length }) => length));
      }
    }
    place += character.length;
    const match = matches.at(-1);
    if (match && foldedPlace < foldedEnd) match[1] = place;
    foldedPlace += letters.length;
  }
  return matches;
}

/** Whether a word begins with a folded character. @param before the one before it */
function beginsWord(letters: string, before: string): boolean {
  if (letters.trim() === '') return false;
  if (letters.startsWith(' ') || before.endsWith(' ')) return true;
  return startsAnywhere(letters) || (hasUnspaced(before) && !hasUnspaced(letters));
}
