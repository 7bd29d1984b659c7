// How letters compare, written a second time: character by character, without the tables and the regular expressions of the service.

import { SORT_KEY_LENGTH } from '../src/search/book-search.ts';

const RESULTS_MAX = 10_000;

/** What people type for other letters, as docs/search.md lists it. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  '': ['ʹ', 'ʺ'],
  "'": ['ʻ', 'ʼ', 'ʽ', 'ʾ', 'ʿ'],
  ae: ['æ'],
  b: ['ƀ', 'ɓ'],
  d: ['đ', 'ð', 'ɖ', 'ɗ'],
  e: ['ə', 'ɛ'],
  g: ['ǥ'],
  h: ['ħ'],
  i: ['ɨ'],
  k: ['ƙ'],
  l: ['ł'],
  n: ['ŋ'],
  o: ['ø', 'ɔ'],
  oe: ['œ'],
  ss: ['ß'],
  t: ['ŧ'],
  th: ['þ'],
  u: ['ʉ'],
  y: ['ƴ'],
  z: ['ƶ'],
};

/** The scripts whose marks are accents or points; most marks belong to no script. */
const POINTED = [
  'Inherited',
  'Common',
  'Cyrillic',
  'Coptic',
  'Glagolitic',
  'Hebrew',
  'Arabic',
  'Syriac',
  'Hangul',
];
const UNSPACED = ['Han', 'Hiragana', 'Katakana'];
const UNSPACED_ALONE = ['Thai', 'Lao', 'Khmer', 'Myanmar', 'Hangul'];

type Word = readonly string[];

/** A text as `title` and `author` compare it. */
export function lower(text: string): string {
  return lowerCase(text.normalize('NFC')).normalize('NFC');
}

/** The words of a text, those of scripts without spaces apart from the others; each is an array of characters. */
export const wordsIn = remembering((text) => typedIn(text).flatMap(partsOf));

/** The places in each word of a text where a typed word may begin. */
const startsIn = remembering((text) =>
  wordsIn(text).map((word) =>
    [...word.keys()].filter((start) => start === 0 || isWordByItself(word[start] ?? '')),
  ),
);

/** Whether each word typed in `q` begins somewhere in one of the texts; false if there is none. */
export function hasTyped(q: string, texts: readonly string[]): boolean {
  const typed = typedIn(q).map(partsOf);
  return typed.length > 0 && typed.every((parts) => texts.some((text) => beginsIn(parts, text)));
}

/** Whether a word that was typed begins somewhere. Its parts but the last one must end where words end. */
function beginsIn(parts: readonly Word[], text: string): boolean {
  const words = wordsIn(text);
  return startsIn(text).some((starts, place) =>
    starts.some((start) =>
      parts.every((part, index) => {
        const found = words[place + index] ?? [];
        const from = index === 0 ? start : 0;
        const isLast = index === parts.length - 1;
        return (
          part.every((one, at) => one === found[from + at]) && (isLast || from + part.length === found.length)
        );
      }),
    ),
  );
}

/** The key by which a text is sorted. */
export function keyOf(text: string): string {
  const words = wordsIn(text).map((word) => word.join(''));
  return Array.from(`${words.join(' ')}\u0001${text}`)
    .slice(0, SORT_KEY_LENGTH)
    .join('');
}

/** The beginning of a sort key that has these words. */
export function keyStartOf(text: string): string {
  return keyOf(text).split('\u0001')[0] ?? '';
}

/** Compares code points. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The words between spaces, punctuation and control characters. */
function typedIn(text: string): Word[] {
  const decomposed = Array.from(lowerCase(text).normalize('NFKD'));
  const letters: string[] = [];
  for (const [index, character] of decomposed.entries()) {
    const before = decomposed[index - 1] ?? '';
    const isVoicing = '\u3099\u309A'.includes(character);
    if (isVoicing && isOf(before, ['Hiragana', 'Katakana'])) {
      // What is composed of two is one letter.
      letters.push(...Array.from(`${letters.pop()}${character}`.normalize('NFC')));
    } else if (!isAccent(character) || isVoicing) {
      letters.push(...Array.from(lowerCase(character)));
    }
  }
  const words: string[][] = [[]];
  for (const letter of letters) {
    const typed = Object.keys(TYPED).find((base) => TYPED[base]?.includes(letter)) ?? letter;
    if (typed === "'" || /^(\p{Z}|\p{Cc}|\p{P})$/u.test(typed)) words.push([]);
    else words.at(-1)?.push(...Array.from(typed));
  }
  return words.filter((word) => word.length > 0);
}

function isAccent(character: string): boolean {
  if (/^(\p{Cf}|\p{Variation_Selector})$/u.test(character) || '\u0640\u093C\u0A3C'.includes(character))
    return true;
  return /^\p{M}$/u.test(character) && POINTED.some((script) => isOf(character, [script]));
}

function partsOf(word: Word): Word[] {
  const parts: string[][] = [];
  for (const [index, character] of word.entries()) {
    const isBorder = index === 0 || isUnspaced(character) !== isUnspaced(word[index - 1] ?? '');
    if (isBorder) parts.push([character]);
    else parts.at(-1)?.push(character);
  }
  return parts;
}

function isUnspaced(character: string): boolean {
  return isOf(character, UNSPACED_ALONE) || UNSPACED.some((script) => matches(`scx=${script}`, character));
}

function isWordByItself(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const isInSyllable = (code >= 0x1160 && code <= 0x11ff) || (code >= 0xd7b0 && code <= 0xd7ff);
  return isUnspaced(character) && !isInSyllable && !/^\p{M}$/u.test(character);
}

function isOf(character: string, scripts: readonly string[]): boolean {
  return scripts.some((script) => matches(`sc=${script}`, character));
}

const patterns = new Map<string, RegExp>();
function matches(property: string, character: string): boolean {
  const known = patterns.get(property) ?? new RegExp(`^\\p{${property}}$`, 'u');
  patterns.set(property, known);
  return known.test(character);
}

function lowerCase(text: string): string {
  return text.toLowerCase().split('ς').join('σ').split('i\u0307').join('i').split('ı').join('i');
}

/** A function of a text that keeps its latest results: a test asks for the same ones with each query. */
export function remembering<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size === RESULTS_MAX) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}
