import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchedParts, searchedWords } from '../../console/src/book/matched-parts.ts';
import { visibleText } from '../../console/src/book/visible-text.ts';

import { type ListEnd, ListEnds } from '../../console/src/catalogue/list-ends.ts';
import { directionOf, nextSort, SORTS } from '../../console/src/catalogue/sort.ts';
import { visibleRows } from '../../console/src/catalogue/visible-rows.ts';
import { barsOfYears, heightOf } from '../../console/src/chart/decades.ts';

describe('The bars of the chart', () => {
  test('are the decades from the first year to the last', () => {
    assert.deepEqual(barsOf([1985, 2001], 24), ['1980 to 1989: 1', '1990 to 1999: 0', '2000 to 2009: 1']);
    assert.deepEqual(barsOf([-750, -759], 24), ['-759 to -750: 2']);
    assert.deepEqual(barsOf([-5, -12], 24), ['-19 to -10: 1', '-9 to -1: 1']);
  });

  test('are one for all books BC, if there are others, and one for the books of unknown year', () => {
    assert.deepEqual(barsOf([-750, 0, -3, 3, 12, 0], 24), [
      '-750 to -1: 2 (older)',
      '1 to 9: 1',
      '10 to 19: 1',
      '0 to 0: 2 (unknown)',
    ]);
    assert.deepEqual(barsOf([0], 24), ['0 to 0: 1 (unknown)']);
    assert.deepEqual(barsOf([], 24), []);
  });

  test('are limited in number: the first decade includes all earlier years', () => {
    assert.deepEqual(barsOf([1815, 2011, 2024], 3), [
      '1815 to 2009: 1 (older)',
      '2010 to 2019: 1',
      '2020 to 2029: 1',
    ]);
    assert.equal(barsOf([-9007199254740991, 1, 2024], 24).length, 24);
  });

  test('end with the current decade: the last one includes all later years', () => {
    assert.deepEqual(barsOf([2011, 20111], 24), ['2010 to 2019: 1', '2020 to 20111: 1 (newer)']);
    assert.deepEqual(barsOf([3000], 24), ['3000 to 3009: 1']);
  });

  test('have different heights for 0, 1 and 120 books, alone and beside 100,000', () => {
    for (const most of [0, 100_000]) {
      const heights = [0, 1, 120].map((count) =>
        heightOf(count, [
          { from: 1, to: 9, kind: 'decade', count },
          { from: 10, to: 19, kind: 'decade', count: most },
        ]),
      );
      assert.equal(heights[0], 0);
      assert.ok((heights[1] ?? 0) >= 0.03 && (heights[1] ?? 0) < 0.5);
      assert.ok((heights[2] ?? 0) > 0.03 && (heights[2] ?? 0) <= 1);
    }
  });
});

describe('The drawn rows', () => {
  test('are the visible ones, and some above and below', () => {
    assert.deepEqual(visibleRows(200, 800, 50, 1_000), { start: 0, end: 24 });
    assert.deepEqual(visibleRows(-5_000, 800, 50, 1_000), { start: 88, end: 128 });
    assert.deepEqual(visibleRows(-49_500, 800, 50, 1_000), { start: 978, end: 1_000 });
  });

  test('are none of an empty list, and end with the last row', () => {
    assert.deepEqual(visibleRows(200, 800, 50, 0), { start: 0, end: 0 });
    assert.deepEqual(visibleRows(-90_000, 800, 50, 3), { start: 3, end: 3 });
  });
});

describe('A list that is loaded from both ends', () => {
  for (const [total, rowsMax, canReadTail] of [
    [0, 1_000, true],
    [7, 1_000, true],
    [1_000, 1_000, true],
    [990, 1_000, false],
    [5_000, 1_000, true],
    [5_000, 1_000, false],
  ] as const) {
    test(`has each row once, in any order of loading: ${total} books, ${rowsMax} rows, ${canReadTail ? 'both ends' : 'one end'}`, () => {
      const ends = new ListEnds(rowsMax, canReadTail);
      const rows = Math.min(total, rowsMax);
      const part = ends.shownPart(total);
      const shown = Array.from({ length: total }, (_, n) => n + 1).filter(
        (id) => !part || id <= part.first || id > total - part.last,
      );
      for (const start of [0, rows - 20, 480, 300, 700, 0, rows - 20]) {
        const [from, to] = [Math.max(0, Math.min(start, rows)), Math.max(0, Math.min(start + 40, rows))];
        for (let next = ends.missing(from, to, total); next; next = ends.missing(from, to, total)) {
          assert.ok(next.count > 0);
          readPage(ends, next.end, total, 70);
        }
        for (let row = from; row < to; row++) assert.equal(ends.at(row, total)?.id, shown[row]);
      }
    });
  }

  test('is loaded from the nearer end', () => {
    const ends = new ListEnds(1_000, true);
    assert.equal(ends.missing(960, 1_000, 1_000)?.end, ends.tail);
    assert.equal(ends.missing(0, 40, 1_000)?.end, ends.head);
    assert.equal(ends.missing(960, 1_000)?.end, ends.head);
    assert.equal(new ListEnds(1_000, false).missing(960, 1_000, 1_000)?.count, 1_000);
  });

  test('removes books and restores them, at both ends', () => {
    const ends = new ListEnds(1_000, true);
    for (const end of [ends.head, ends.tail]) readPage(ends, end, 7, 5);
    const restore = ends.remove(new Set([2, 4, 5]));
    const ids = (total: number) => Array.from({ length: total }, (_, row) => ends.at(row, total)?.id);
    assert.deepEqual(ids(4), [1, 3, 6, 7]);
    restore?.();
    assert.deepEqual(ids(7), [1, 2, 3, 4, 5, 6, 7]);
    assert.equal(ends.remove(new Set([8])), undefined);
  });
});

test('A text in a row is one line, truncated, and never blank', () => {
  for (const [text, shown] of [
    ['The Iliad', 'The Iliad'],
    ['two  spaces', 'two  spaces'],
    ['  ', '␣␣'],
    ['\n', '␣'],
    ['a\r\nb\nc\u2028d', 'a↵b↵c↵d'],
    ['a\tb', 'a⇥b'],
    ['x'.repeat(401), `${'x'.repeat(400)}…`],
    [`${'x'.repeat(399)}😀`, `${'x'.repeat(399)}…`],
  ] as const) {
    assert.equal(visibleText(text), shown);
  }
});

test('What matches a search is marked: beginnings of words, in any case and with any accents', () => {
  for (const [text, q, marked] of [
    ['War and Peace', 'PEA war', '[War] and [Pea]ce'],
    ['Émile, Les Misérables', 'misera emile', '[Émile], Les [Miséra]bles'],
    ['Les Mise\u0301rables', 'mise', 'Les [Mise\u0301]rables'],
    ['a catalogue of cats', 'cat catal', 'a [catal]ogue of [cat]s'],
    ['two↵lines', 'lines', 'two↵[lines]'],
    ['Œdipus, ﬁre', 'fi', 'Œdipus, [ﬁ]re'],
    ['Οδύσσεια ΣΊΣΥΦΟΣ', 'σίσυφος', 'Οδύσσεια [ΣΊΣΥΦΟΣ]'],
    ['The Iliad', ' - ', 'The Iliad'],
    ['rock’n’roll', 'n', 'rock’[n]’roll'],
  ] as const) {
    const parts = matchedParts(text, searchedWords(q));
    assert.equal(parts.join(''), text);
    assert.equal(parts.map((part, index) => (index % 2 === 1 ? `[${part}]` : part)).join(''), marked);
  }
});

test('A column sorts ascending first, then alternates', () => {
  assert.equal(nextSort('year', 'id'), 'year');
  assert.equal(nextSort('year', 'year'), '-year');
  assert.equal(nextSort('year', '-year'), 'year');
  assert.equal(directionOf('year', '-year'), 'descending');
  assert.equal(directionOf('id', '-year'), 'none');
  assert.equal(SORTS.length, 8);
});

/** The bars for books of these years, in the year 2026, as text. */
function barsOf(years: readonly number[], barsMax: number): string[] {
  return barsOfYears(years, 2026, barsMax).map(
    ({ from, to, count, kind }) => `${from} to ${to}: ${count}${kind === 'decade' ? '' : ` (${kind})`}`,
  );
}

/** Loads a page of the books 1 to `total`. */
function readPage(ends: ListEnds, end: ListEnd, total: number, limit: number): void {
  const after = Number(end.next ?? 0);
  const books = Array.from({ length: Math.min(limit, total - after) }, (_, n) => ({
    id: end === ends.head ? after + n + 1 : total - after - n,
    title: '',
    author: '',
    year: 0,
  }));
  const read = after + books.length;
  ends.add(end, { books, next: read < total ? String(read) : undefined });
}
