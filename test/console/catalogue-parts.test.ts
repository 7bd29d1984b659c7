import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchedParts, searchedWords } from '../../console/src/book/matched-parts.ts';
import { visibleText } from '../../console/src/book/visible-text.ts';
import { barsBetween, countInto, scaleOf } from '../../console/src/catalogue/decades.ts';
import { type ListEnd, ListEnds } from '../../console/src/catalogue/list-ends.ts';
import { directionOf, nextSort, SORTS } from '../../console/src/catalogue/sort.ts';
import { visibleRows } from '../../console/src/catalogue/visible-rows.ts';

describe('The bars of the chart', () => {
  test('are the decades from the first year to the last', () => {
    assert.deepEqual(shapeOf(1985, 2001, 2026, 24), [
      'decade 1980 1989',
      'decade 1990 1999',
      'decade 2000 2009',
    ]);
    assert.deepEqual(shapeOf(-5, 3, 2026, 24), ['decade -10 -1', 'decade 0 9']);
  });

  test('are limited in number: the first one includes all earlier years', () => {
    assert.deepEqual(shapeOf(-750, 2024, 2026, 3), [
      'older -750 2009',
      'decade 2010 2019',
      'decade 2020 2029',
    ]);
    assert.equal(shapeOf(-9007199254740991, 2024, 2026, 24).length, 24);
  });

  test('end with the current decade: the last one includes all later years', () => {
    assert.deepEqual(shapeOf(2011, 20111, 2026, 24), ['decade 2010 2019', 'newer 2020 20111']);
    assert.deepEqual(shapeOf(3000, 3000, 2026, 24), ['decade 3000 3009']);
  });

  test('count each book once', () => {
    const years = [-750, 1999, 2000, 2009, 2010, 2026, 9999];
    const bars = countInto(barsBetween(-750, 9999, 2026, 5), years);
    assert.deepEqual(
      bars.map(({ count }) => count),
      [1, 1, 2, 1, 2],
    );
  });

  test('are scaled to the largest decade, not to the bar of earlier years', () => {
    const bars = countInto(barsBetween(1000, 2026, 2026, 2), [1000, 1000, 1000, 2021]);
    assert.equal(scaleOf(bars), 1);
    assert.equal(scaleOf([]), 1);
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

  test('removes a book and restores it, at both ends', () => {
    const ends = new ListEnds(1_000, true);
    for (const end of [ends.head, ends.tail]) readPage(ends, end, 7, 5);
    const restore = ends.remove(4);
    const ids = (total: number) => Array.from({ length: total }, (_, row) => ends.at(row, total)?.id);
    assert.deepEqual(ids(6), [1, 2, 3, 5, 6, 7]);
    restore?.();
    assert.deepEqual(ids(7), [1, 2, 3, 4, 5, 6, 7]);
    assert.equal(ends.remove(8), undefined);
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

/** The bars of `barsBetween` as text. */
function shapeOf(...parts: Parameters<typeof barsBetween>): string[] {
  return barsBetween(...parts).map(({ kind, from, to }) => `${kind} ${from} ${to}`);
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
