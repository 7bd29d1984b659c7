import * as fc from 'fast-check';
import type { BookFields } from '../src/book/contract.ts';
import type { Parameters } from './search-reference.ts';

/** A long text. */
export const LONG = 'x'.repeat(4_000);

/** Books that are hard to match or to sort. */
export const CORPUS: readonly BookFields[] = [
  ['The Iliad', 'Homer', -750],
  ['The Odyssey', 'Homer', -725],
  ['ΟΔΥΣΣΕΙΑ', 'Ὅμηρος', -725],
  ['Ο Σίσυφος', 'ΣΊΣΥΦΟΣ', 1942],
  ['Straße nach Süden', 'Jörg Müller', 1999],
  ['STRASSE', 'JÖRG MÜLLER', 1999],
  ['İstanbul', 'Orhan Pamuk', 2003],
  ['istanbul', 'ıssız', 2003],
  ['ISTANBUL', 'orhan pamuk', 2003],
  ['Cafe\u0301 society', 'Zoe\u0308', 1900],
  ['Café Society', 'Zoë', 1900],
  ['حرب وسلام', 'تولستوي', 1869],
  ['מִלְחָמָה וְשָׁלוֹם', 'טולסטוי', 1869],
  ['Война и мир', 'Лев Толстой', 1869],
  ['📚 on 🐎', '👩‍👩‍👧', 2020],
  ['\u{1F4DA}', '\uFFFD', 2021],
  ['\uFF21\uFF22\uFF23 full width', '\uFB01rst', 2021],
  ['100% _real_', "O'Neill", 7],
  ['100', 'ONeill', 8],
  ['C++ \\ Primer "quoted" <>&', 'AND OR NOT NEAR(', 9],
  ['', '', 0],
  ['', '', 0],
  ['  ', '--', 0],
  ['tab\there\nand there', 'a-b_c', 1],
  [`${LONG}b`, 'long', 1],
  [`${LONG}a`, 'long', 1],
  [LONG, 'long', 1],
  [`${LONG}a`, 'long', 1],
  ['x'.repeat(500), LONG, 1],
  ['x'.repeat(64), `${LONG}ü`, 1],
  ['\u{10FFFF}'.repeat(249), '\u{10FFFF}', 1],
  ['\u{10FFFF}'.repeat(250), '\u{10FFFF}x', 1],
  [`${'\u{10FFFF}'.repeat(250)}x`, '\u{10FFFF}', 1],
  ['\u{10FFFF}'.repeat(251), `x${'\u{10FFFF}'.repeat(300)}`, 1],
  // The longest texts.
  [`${'y '.repeat(2_046)}seen`, 'e'.repeat(4_096), 1],
  [`${'\u{1F4DA} '.repeat(2_046)}seen`, '\uFDFA'.repeat(4_096), 1],
  ['日本語の本', '村上 春樹', 1987],
  ['한국어', '김', 1987],
  ['हिन्दी किताब', 'लेखक', 9007199254740991],
  ['ภาษาไทย', 'ผู้เขียน', -9007199254740991],
  ['Łódź: Đorđe, Æsop og Ørsted', 'Œuvres þýða', 1900],
  ['Işık ışığı', 'Əli ISIK', 1900],
  ['Hawaiʻi, Gogolʹ', 'Мʼята', 1900],
  ['中国人民解放军', '民众', 1927],
  ['人民中国', '和平', 1953],
  ['東京2020年 第2巻', 'C++入門', 2020],
  ['がぎぐげご', 'ガキ', 2001],
  ['ｶﾞｷ', 'か\u3099き', 2001],
  ['かきくけこ', 'ハリー・ポッター', 2001],
  ['เที่ยวไทย', 'ນໍ້າ ភាសាខ្មែរ မြန်မာ', 1990],
  ['كـتابُ ﻛﺘﺎﺏ', 'ـــ', 1990],
  ['대한민국 한국어문학', '김한국'.normalize('NFD'), 1948],
].map(([title, author, year]) => ({ title, author, year }) as BookFields);

const HARD_TEXTS = [
  ...`the ILIAD é É e\u0301 strasse straße STRASSE ß i İ ı istanbul % _ 100% o'n \\ " σ ς ΣΣ οδυσσεια و לח мир МИР 📚 🐎
    x xx xxx xb 語 語の 日本語 AND NEAR( * - ﬁ ＡＢ nowhere`.split(/\s+/),
  ' ',
  '  ',
  '\t',
  '\u200d',
  LONG.slice(0, 3_000),
];

/** Queries for edge cases. */
export const EXAMPLES: readonly Parameters[] = HARD_TEXTS.flatMap((text): Parameters[] => [
  { title: text },
  { author: text },
  { q: text },
]).concat(
  { q: 'hom ili' },
  { q: 'ili hom' },
  { q: 'liad' },
  { q: 'cafe zoe' },
  { q: 'o neill' },
  { q: 'O’Neill' },
  { q: 'first abc' },
  { q: '.,;' },
  ...['', '%', '?', '\u0301', '\u00AD -'].map((q) => ({ q, count: 'true' })),
  ...`lodz Łódź dorde æsop aesop ORSTED oeuv thyda isik IŞIK ışık ali hawai'i gogol м'ята 人民 解放 解放军 人民解放军 军 民 民和
    国人民 人中 東京 東 京2 2020 年第 第2 第2巻 第2020 入門 c++入 か が がき ガキ ｶﾞ カ ぎぐげ げご ハリーポッター ポッター ー
    ไทย ที ท ที่ยว ย น้ ຳ ສ ខ្មែ មែ မြန် န် 한 한국 국 국어문 문학 하 ㅎ 구어 민국 학 كتاب كـتا ـ`
    .split(/\s+/)
    .flatMap((text) => [{ q: text }, { title: text }, { author: text.normalize('NFD') }]),
  { q: 'a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6' },
  { q: 'seen' },
  { title: 'y seen' },
  { author: 'e'.repeat(4_096) },
  { author: 'e'.repeat(4_097) },
  { year: '1999' },
  { year: '-0' },
  { year: '007' },
  { year_from: '1900' },
  { year_to: '0' },
  { year_from: '-725', year_to: '1' },
  { year_from: '2000', year_to: '1999' },
  { year: '1999', year_from: '2000' },
  { year: '9007199254740991' },
  { year: '-9007199254740991' },
  { title: 'x', author: 'long', year: '1', q: 'long', sort: '-title' },
  { q: 'the', title: 'ODY', author: 'OME', year_to: '-1', sort: 'year' },
);

const TEXTS = fc.oneof(
  fc.constantFrom(
    'the',
    'riv',
    'gold',
    'a',
    'é',
    'ö',
    'x',
    'İ',
    'σ',
    ' ',
    '%',
    '_',
    '📚',
    'of',
    'river of',
    'ver',
    'مار',
    'ø',
    '民',
    '国人',
    'がぎ',
    'ｶ',
    'ไท',
    '국',
    '第2巻',
  ),
  fc.string({ unit: 'grapheme', maxLength: 4 }).filter((text) => !text.includes('\0')),
);
const YEARS = fc.integer({ min: -800, max: 2_050 }).map(String);

export const ORDERS = ['id', '-id', 'title', '-title', 'author', '-author', 'year', '-year'];

/** Random queries. */
export const PARAMETERS: fc.Arbitrary<Parameters> = fc
  .record(
    {
      title: TEXTS,
      author: TEXTS,
      q: fc.array(TEXTS, { maxLength: 3 }).map((words) => words.join(' ')),
      year: YEARS,
      year_from: YEARS,
      year_to: YEARS,
      sort: fc.constantFrom(...ORDERS),
      start: fc.record({
        name: fc.constantFrom('offset', 'from'),
        number: fc.oneof(fc.nat(10), fc.nat(200), fc.nat(2_050)),
        text: TEXTS,
      }),
    },
    { requiredKeys: [] },
  )
  .map(({ start, ...parameters }): Parameters => {
    if (!start) return parameters;
    const isText = start.name === 'from' && /title|author/.test(parameters.sort ?? '');
    return { ...parameters, [start.name]: isText ? start.text : `${start.number}` };
  });

/** Books made of a few words, so that many have equal keys. */
export function makeBooks(count: number): BookFields[] {
  const words = ['The', 'river', 'of', 'GOLDEN', 'émigrés', 'Ölpest', 'σοφός', 'مارس', '📚', 'x'];
  const pick = (number: number) => words[number % words.length] ?? '';
  return Array.from({ length: count }, (_, index) => ({
    title: `${pick(index)} ${pick(index * 7 + 3)} ${pick(index >> 3)}`,
    author: `${pick(index * 3)} ${pick(index >> 2)}`,
    year: 1_900 + (index % 40),
  }));
}
