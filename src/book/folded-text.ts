/**
 * A text in lower case, by the default mapping of Unicode (section 3.13, `toLowercase`), but with a final sigma like any other sigma: so
 * a part of a text remains a part of its lower case. As the case of i depends on the language, İ, I, ı and i are one letter.
 */
export function lowerCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll(/i\u0307|ı/g, 'i');
}

/** Precedes a word, so that even a single letter results in a trigram. */
export const GAP = '  ';

/**
 * The words of a text, with gaps between them. Characters of scripts without spaces are a word apart from the letters beside them, in
 * which a word begins with each ({@link startsAnywhere}).
 */
export function foldText(text: string): string {
  return separateScripts(foldLetters(text));
}

/** The words of a search, folded: each is what was typed between spaces and punctuation, as {@link foldLetters} does it. */
export function typedWords(text: string): string[] {
  return foldLetters(text).split(GAP).filter(Boolean);
}

/** A folded text with gaps between characters of scripts without spaces and others. */
export function separateScripts(folded: string): string {
  return hasUnspaced(folded) ? folded.replaceAll(SCRIPT_BORDER, GAP) : folded;
}

/** Whether a folded text begins with a character that begins a word wherever it is. */
export function startsAnywhere(folded: string): boolean {
  return STARTS_ANYWHERE.test(folded);
}

/** Whether a folded text has characters of scripts that are written without spaces between words. */
export function hasUnspaced(folded: string): boolean {
  return UNSPACED.test(folded);
}

/**
 * A text with its letters as a search compares them: in lower case, decomposed (NFKD), without accents and invisible characters, other
 * letters as people type them, and with gaps for spaces, punctuation and control characters.
 */
function foldLetters(text: string): string {
  // Most texts are ASCII, and the rules for Unicode take ten times as long.
  if (isAscii(text)) return text.toLowerCase().replaceAll(ASCII_GAPS, GAP);
  const letters = lowerCase(text)
    .normalize('NFKD')
    .replaceAll(VOICED_KANA, (kana) => kana.normalize('NFC'))
    .replaceAll(IGNORED, '');
  return lowerCase(letters)
    .replaceAll(UNDECOMPOSED, (letter) => TYPED.get(letter) ?? '')
    .replaceAll(/[\p{Z}\p{Cc}\p{P}]+/gu, GAP);
}

export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** ASCII characters that are neither letters nor digits nor symbols. */
const ASCII_GAPS = /[^A-Za-z0-9$+<=>^`|~]+/g;

/**
 * Format characters, the stroke that stretches Arabic words (U+0640), and the marks that readers know as accents or points: those of
 * Latin, Greek, Cyrillic, Hebrew, Arabic and Syriac letters, and the dots of Devanagari and Gurmukhi letters. In other scripts,
 * marks are vowels or make another letter: ที่ is not ท.
 */
const IGNORED =
  /[\p{Cf}\p{Variation_Selector}\u0640\u093C\u0A3C]|(?![\u3099\u309A])(?=\p{M})[\p{sc=Inherited}\p{sc=Common}\p{sc=Cyrillic}\p{sc=Coptic}\p{sc=Glagolitic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Hangul}]/gu;

/** Composed again, as が is another letter than か. */
const VOICED_KANA = /[\p{sc=Hiragana}\p{sc=Katakana}][\u3099\u309A]/gu;

/** What people type for letters that Unicode does not decompose. */
const TYPED = new Map(
  [
    // Polish, Danish, Norwegian, Croatian, Vietnamese, Sámi, Maltese; French, German, Icelandic.
    'ł=l ø=o đ=d ħ=h ŧ=t æ=ae œ=oe ß=ss þ=th ð=d',
    // Sámi, Azerbaijani, and languages of Africa, such as Hausa and Ewe.
    'ŋ=n ǥ=g ƶ=z ə=e ɓ=b ƀ=b ɗ=d ɖ=d ƙ=k ƴ=y ɨ=i ʉ=u ɛ=e ɔ=o',
    // Apostrophes of Hawaiian, Ukrainian and transliterated Arabic; the soft and the hard sign of transliterated Russian.
    "ʻ=' ʼ=' ʽ=' ʾ=' ʿ=' ʹ= ʺ=",
  ].flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [string, string])),
);
const UNDECOMPOSED = new RegExp(`[${[...TYPED.keys()].join('')}]`, 'gu');

/** Scripts without spaces between words, and Hangul, whose words are often written together. */
const SCRIPTS = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Hangul}`;
const UNSPACED = new RegExp(`[${SCRIPTS}]`, 'u');
const SCRIPT_BORDER = new RegExp(
  `(?<=[${SCRIPTS}])(?=[^ ${SCRIPTS}])|(?<=[^ ${SCRIPTS}])(?=[${SCRIPTS}])`,
  'gu',
);

/** A mark belongs to the character before it, as a vowel and a final consonant of Hangul to their syllable. */
const STARTS_ANYWHERE = new RegExp(String.raw`^(?![\p{M}\u1160-\u11FF\uD7B0-\uD7FF])[${SCRIPTS}]`, 'u');
