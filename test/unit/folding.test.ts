import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { lowerCase } from '../../src/book/folded-text.ts';
import { SORT_KEY_LENGTH } from '../../src/search/book-search.ts';
import {
  compareSortKeys,
  FOLDING_VERSION,
  foldBook,
  isMatch,
  needlesOf,
  searchesNoWord,
  sortKeyOf,
  wordsOf,
} from '../../src/search/folding.ts';
import { neededTrigramsOf, trigramHashesOf } from '../../src/search/postgres/trigrams.ts';
import { hasTyped, keyOf } from '../../testkit/folding-reference.ts';

const ANY_YEAR = { sort: 'id', isDescending: false, yearFrom: 0, yearTo: 0 } as const;
/** Characters that change what is beside them, and any others. */
const TEXT = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(
      ...Array.from(
        'aIİıłØßæÞŋʻʹ1 .-か゛がｶﾞﾟハバパ\u3099\u309A\u00AD\u0301ーの中国東々〆\u{20000}한하ᄒㅎㅏᅡᆫﾡ',
      ),
      ...Array.from('ทีน้ำ่ກຳកើ្မြန်क़ग़गि्বড়שָׁאַأحَ\u0300\u0345\uFE0F\u{E0100}'),
    ),
  }),
);

describe('Folding', () => {
  test('returns the words of texts, each after two spaces', () => {
    assert.equal(wordsOf('The Iliad', 'HOMER'), '  the  iliad   homer  ');
    assert.equal(wordsOf(' Émigré—“Ölpest”, ', "O'Neill"), '  emigre  olpest   o  neill  ');
    assert.equal(wordsOf('\uFF21\uFB01 C++ 100%', ''), '  afi  c++  100  ');
    assert.equal(wordsOf('ΣΊΣΥΦΟΣ', 'İstanbul'), '  σισυφοσ   istanbul  ');
    assert.equal(wordsOf('שָׁלוֹם 📚\uFE0F', 'a\u00adb'), '  שלום  📚   ab  ');
    assert.equal(wordsOf('', ' - '), '  ');
  });

  test('has what people type for letters that Unicode does not decompose, also with accents', () => {
    for (const [text, folded] of [
      ['Łódź Ørsted Đorđe Ħal Ŧ Ǿ', 'lodz orsted dorde hal t o'],
      ['Œuvres Æsop ÆSOP Ǽ Straße STRASSE ẞ', 'oeuvres aesop aesop ae strasse strasse ss'],
      ['Þórr Ðað', 'thorr dad'],
      ['Işık ışık ISIK İstanbul I İ ı i', 'isik isik isik istanbul i i i i'],
      ['Áŋŋel Əli Ɓaɓe Ɗan Ƙasa Ƴar Ɛʋe Ɔkra', 'annel eli babe dan kasa yar eʋe okra'],
      ['Hawaiʻi Мʼята ʿAlī Gogolʹ obʺʺekt', 'hawai i м ята ali gogol obekt'],
      ['ſo ﬁn Ⅷ ﬆ ŉ', 'so fin viii st n'],
      ['Ёлка Йод ї ў Ὅμηρος σίσυφος', 'елка иод і у ομηροσ σισυφοσ'],
      ['Đặng Thị Cẩm', 'dang thi cam'],
    ] as const) {
      assert.equal(wordsOf(text), `  ${folded.replaceAll(' ', '  ')}  `);
    }
  });

  test('keeps marks that make another letter: of kana, vowels, and letters without a vowel', () => {
    for (const text of ['が', 'ガ', 'パ', 'ที่', 'กิน', 'ນໍ້າ', 'កើត', 'မြန်မာ', 'हिन्दी', 'বাংলা', 'தமிழ்', 'ދިވެހި'])
      assert.equal(wordsOf(text), `  ${text}  `);
    assert.equal(wordsOf('ｶﾞﾊﾟ か\u3099 น้ำ'), '  ガパ  が  น้ํา  ');
    assert.equal(wordsOf('حَـرْب שָׁלוֹם ग़ज़ल ܐܶ 葛\u{E0100}'), '  حرب  שלום  गजल  ܐ  葛  ');
  });

  test('separates scripts without spaces from others', () => {
    assert.equal(
      wordsOf('東京2020年 C++入門', 'ABC한국'),
      '  東京  2020  年  c++  入門   abc  한국  '.normalize('NFKD'),
    );
  });

  test('has a version, which is incremented with every change of its results', () => {
    const ranges = [
      [0x01, 0x24f],
      [0x300, 0x36f],
      [0x391, 0x45f],
      [0x5d0, 0x5ea],
      [0x621, 0x652],
      [0xe01, 0xe4e],
      [0x1100, 0x11ff],
      [0x3041, 0x30ff],
      [0xfb00, 0xfb06],
      [0xff61, 0xff9f],
    ] as const;
    const characters = ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
    );
    const texts = [...characters, ...characters.map((character) => `a${character} A`), characters.join('')];
    const folded = texts.map((title) => foldBook({ title, author: title }));
    assert.deepEqual(
      [FOLDING_VERSION, hash('sha256', JSON.stringify(folded)).slice(0, 16)],
      [6, '4adb13db876dcd98'],
    );
  });

  test('treats ASCII texts like other texts', () => {
    const ascii = fc.string({ unit: 'binary-ascii' });
    fc.assert(
      fc.property(ascii, (text) => assert.equal(wordsOf(`${text}\n`, 'x'), wordsOf(`${text}\n`, 'x\u0301'))),
    );
  });

  test('finds what the reference finds', () => {
    fc.assert(
      fc.property(TEXT, TEXT, TEXT, fc.nat(9), fc.nat(9), (title, author, other, from, length) => {
        const typed = Array.from(title)
          .slice(from, from + length)
          .join('');
        for (const q of [typed, title + other, other, `${author} ${typed}`]) {
          const needles = needlesOf({ ...ANY_YEAR, q });
          const isFound = hasTyped(q, [title, author]);
          assert.equal(needles !== undefined && isMatch(needles, title, author), isFound, JSON.stringify(q));
          assert.equal(searchesNoWord({ ...ANY_YEAR, q }), !hasTyped(q, [q]));
          if (isFound)
            assertSubset(neededTrigramsOf(needles).flat(), trigramHashesOf(wordsOf(title, author)));
        }
        assert.equal(sortKeyOf(title), keyOf(title));
      }),
      { numRuns: 1_000 },
    );
  });

  test('of title and author is that of the same text in another normal form', () => {
    fc.assert(
      fc.property(TEXT, TEXT, (text, other) => {
        const [nfc, nfd] = [text.normalize('NFC'), text.normalize('NFD')];
        assert.deepEqual(
          { ...foldBook({ title: nfc, author: nfd }), titleKey: '', authorKey: '' },
          { ...foldBook({ title: nfd, author: nfc }), titleKey: '', authorKey: '' },
        );
        for (const part of [nfc, nfd]) {
          assert.ok(isMatch(needlesOf({ ...ANY_YEAR, title: part }), nfd, other));
          assert.ok(isMatch(needlesOf({ ...ANY_YEAR, author: part }), other, nfc));
        }
      }),
    );
  });

  test('returns prefilters that exclude no matching book', () => {
    fc.assert(
      fc.property(TEXT, TEXT, TEXT, fc.nat(9), fc.nat(9), (before, after, other, from, length) => {
        const title = before + after;
        const part = Array.from(lowerCase(title.normalize('NFC')).normalize('NFC'))
          .slice(from, from + length)
          .join('');
        for (const [query, texts] of [
          [{ title: part }, [title, other]],
          [{ author: part }, [other, title]],
        ] as const) {
          const needles = needlesOf({ ...ANY_YEAR, ...query });
          assert.ok(isMatch(needles, texts[0], texts[1]));
          const words = wordsOf(...texts);
          for (const prefilter of needles?.prefilters ?? [])
            assert.ok(words.includes(prefilter), JSON.stringify(prefilter));
          assertSubset(neededTrigramsOf(needles).flat(), trigramHashesOf(words));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

function assertSubset(part: readonly number[], whole: readonly number[]): void {
  assert.deepEqual(
    part.filter((one) => !whole.includes(one)),
    [],
  );
}

describe('The order of texts', () => {
  test('ignores case, accents, leading spaces and punctuation, then follows the code points', () => {
    const sorted = [
      '',
      '  ',
      '…',
      'Apple',
      'apple',
      '\u201cApple\u201d',
      'apple pie',
      'Apples',
      '  Banana',
      'Émile',
      'emile Zola',
      '(The) Émilie',
      'the end',
      'Zebra',
      'Ὅμηρος',
      'ΟΜΗΡΟΣ 2',
      '日本語',
      '\uFFFD',
      '\u{1F4DA}',
    ];
    const keys = sorted.map(sortKeyOf);
    assert.deepEqual(keys.toSorted(compareSortKeys), keys);
    assert.deepEqual(keys.toReversed().toSorted(compareSortKeys), keys);
  });

  test('is that of keys of bounded length, which contain no incomplete character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1_000, size: 'max' }), (text) => {
        const key = sortKeyOf(text);
        assert.ok(key.isWellFormed() && Array.from(key).length <= SORT_KEY_LENGTH);
        assert.ok(`${wordsOf(text).trim().replaceAll('  ', ' ')}\u0001${text}`.startsWith(key));
        const { titleKey, authorKey, words } = foldBook({ title: text, author: 'Émile' });
        assert.deepEqual([titleKey, authorKey], [key, 'emile\u0001Émile']);
        assert.equal(words, wordsOf(text, 'Émile'));
      }),
    );
  });
});

describe('A search without a condition on texts', () => {
  test('matches every book', () => {
    assert.equal(needlesOf({ ...ANY_YEAR, title: '', author: '' }), undefined);
    assert.ok(isMatch(undefined, 'anything', ''));
  });
});
