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
  sortKeyOf,
  wordsOf,
} from '../../src/search/folding.ts';

const ANY_YEAR = { sort: 'id', isDescending: false, yearFrom: 0, yearTo: 0 } as const;
const TEXT = fc.string({ unit: 'binary' });

describe('Folding', () => {
  test('returns the words of texts, each after two spaces', () => {
    assert.equal(wordsOf('The Iliad', 'HOMER'), '  the  iliad  homer  ');
    assert.equal(wordsOf(' Émigré—“Ölpest”, ', "O'Neill"), '  emigre  olpest  o  neill  ');
    assert.equal(wordsOf('\uFF21\uFB01 C++ 100%', ''), '  afi  c++  100  ');
    assert.equal(wordsOf('ΣΊΣΥΦΟΣ', 'İstanbul'), '  σισυφοσ  istanbul  ');
    assert.equal(wordsOf('שָׁלוֹם 📚\uFE0F', 'a\u00adb'), '  שלום  📚  ab  ');
    assert.equal(wordsOf('', ' - '), '  ');
  });

  test('has a version, which is incremented with every change of its results', () => {
    const ranges = [
      [0x01, 0x24f],
      [0x300, 0x36f],
      [0x391, 0x45f],
      [0x5d0, 0x5ea],
      [0xfb00, 0xfb06],
    ] as const;
    const characters = ranges.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
    );
    const texts = [...characters, ...characters.map((character) => `a${character} A`), characters.join('')];
    const folded = texts.map((title) => foldBook({ title, author: title, year: 0 }));
    assert.deepEqual(
      [FOLDING_VERSION, hash('sha256', JSON.stringify(folded)).slice(0, 16)],
      [3, '68c9cef3c4cf96f5'],
    );
  });

  test('treats ASCII texts like other texts', () => {
    const ascii = fc.string({ unit: 'binary-ascii' });
    fc.assert(
      fc.property(ascii, (text) => assert.equal(wordsOf(`${text}\n`, 'x'), wordsOf(`${text}\n`, 'x\u0301'))),
    );
  });

  test('preserves parts: the lower case of a text contains the lower case of its parts', () => {
    fc.assert(
      fc.property(TEXT, TEXT, TEXT, (before, part, after) => {
        assert.ok(lowerCase(before + part + after).includes(lowerCase(part)));
      }),
    );
  });

  test('returns prefilters that exclude no matching book', () => {
    fc.assert(
      fc.property(TEXT, TEXT, TEXT, TEXT, (before, part, after, other) => {
        const title = before + part + after;
        for (const [query, texts] of [
          [{ title: part }, [title, other]],
          [{ author: part }, [other, title]],
        ] as const) {
          const needles = needlesOf({ ...ANY_YEAR, ...query });
          assert.ok(isMatch(needles, texts[0], texts[1]));
          for (const prefilter of needles?.prefilters ?? [])
            assert.ok(wordsOf(...texts).includes(prefilter), JSON.stringify(prefilter));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

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
        const { titleKey, authorKey, words } = foldBook({ title: text, author: 'Émile', year: 0 });
        assert.deepEqual([titleKey, authorKey], [key, 'emile\u0001Émile']);
        assert.equal(words, wordsOf(text, 'Émile'));
      }),
    );
  });
});

describe('A search without words', () => {
  test('has no condition', () => {
    assert.equal(needlesOf({ ...ANY_YEAR, q: ' .,- ', title: '', author: '' }), undefined);
    assert.ok(isMatch(undefined, 'anything', ''));
  });
});
