import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Book } from '../../client/index.ts';
import { daysBetween } from '../../console/src/features/history/calendar.ts';
import { barsOf, heightOf } from '../../console/src/state/decades.ts';
import { readYear } from '../../console/src/state/fields.ts';
import { LoadedPages } from '../../console/src/state/loaded-pages.ts';
import { cellsOf, textOf } from '../../console/src/state/paste.ts';
import { directionOf, nextSort, SORTS } from '../../console/src/state/sort.ts';
import { searchedWords } from '../../console/src/state/view.ts';
import { ListHeight, visibleRows } from '../../console/src/state/visible-rows.ts';
import { commandLetter } from '../../console/src/ui/keys.ts';
import { matchedParts } from '../../console/src/ui/matched-parts.ts';
import { visibleText } from '../../console/src/ui/visible-text.ts';

/** The bars for years from the first to the last one, before and since the year 0, in 2026. */
function bars(barsMax: number, bc?: readonly [number, number], ad?: readonly [number, number]): string[] {
  const [before, since] = [bc, ad].map((years) => years && { first: years[0], last: years[1] });
  return barsOf(before, since, 2026, barsMax).map(
    ({ from, to, kind }) => `${from} to ${to}${kind === 'decade' ? '' : ` (${kind})`}`,
  );
}

describe('The bars of the chart', () => {
  test('are the decades from the first year to the last, and one for the books of unknown year', () => {
    const decades = ['1980 to 1989', '1990 to 1999', '2000 to 2009'];
    assert.deepEqual(bars(24, undefined, [1985, 2001]), [...decades, '0 to 0 (unknown)']);
    assert.deepEqual(bars(24, [-759, -750]), ['-759 to -750', '0 to 0 (unknown)']);
    assert.deepEqual(bars(24, [-12, -5]), ['-19 to -10', '-9 to -1', '0 to 0 (unknown)']);
    assert.deepEqual(bars(24), ['0 to 0 (unknown)']);
  });

  test('are one for all books BC, if there are others', () => {
    assert.deepEqual(bars(24, [-750, -3], [3, 12]).slice(0, -1), [
      '-750 to -1 (older)',
      '1 to 9',
      '10 to 19',
    ]);
  });

  test('are limited in number: the first decade includes all earlier years', () => {
    assert.deepEqual(bars(3, undefined, [1815, 2024]).slice(0, -1), [
      '1815 to 2009 (older)',
      '2010 to 2019',
      '2020 to 2029',
    ]);
    assert.equal(bars(24, [-9007199254740991, -1], [1, 2024]).length, 25);
  });

  test('end with the current decade: the last one includes all later years', () => {
    assert.deepEqual(bars(24, undefined, [2011, 20111]).slice(0, -1), [
      '2010 to 2019',
      '2020 to 20111 (newer)',
    ]);
    assert.deepEqual(bars(24, undefined, [3000, 3000]).slice(0, -1), ['3000 to 3009']);
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
      assert.ok((heights[2] ?? 0) > 0.3 && (heights[2] ?? 0) <= 1);
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

describe('The scroll bar of a list', () => {
  test('moves pixel by pixel when the list is as high as its element', () => {
    const height = new ListHeight(1_000_000, 800);
    assert.equal(height.element, 1_000_000);
    for (const place of [-50, 0, 500, 999_200]) {
      assert.equal(height.shiftAt(place), 0);
      assert.equal(height.scrolledAt(place), place);
    }
  });

  test('reaches each place of a higher list, and its ends exactly', () => {
    const height = new ListHeight(80_000_000, 800);
    assert.ok(height.element < 10_000_000);
    const lowest = height.element - 800;
    for (let scrolled = 0; scrolled <= lowest; scrolled += 7_919) {
      const position = scrolled + height.shiftAt(scrolled);
      assert.ok(Math.abs(height.scrolledAt(position) - scrolled) <= 1);
      assert.ok(Math.abs(position / (80_000_000 - 800) - scrolled / lowest) < 0.02);
    }
    assert.equal(height.shiftAt(-200), 0);
    assert.equal(lowest + height.shiftAt(lowest), 80_000_000 - 800);
    assert.equal(height.scrolledAt(80_000_000 - 800), lowest);
  });
});

describe('The loaded pages of a list', () => {
  test('have the books of each requested row, in any order of loading', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.array(fc.nat(3_000), { maxLength: 12 }), (total, rows) => {
        const stored = numbered(total);
        const pages = new LoadedPages();
        for (const row of rows) {
          const [start, end] = [Math.min(row, total), Math.min(row + 40, total)];
          assert.ok(loadAll(pages, stored, start, end) <= 3);
          assert.deepEqual(booksAt(pages, start, end), stored.slice(start, end));
        }
        const all = Array.from({ length: total }, (_, row) => pages.at(row));
        assert.ok(all.every((book, row) => book === undefined || book === stored[row]));
        assert.equal(pages.isWhole, all.every(Boolean) && pages.isAtEnd);
      }),
    );
  });

  test('meet again after the list has changed: each book is there once, and none is missing', () => {
    const changes = fc.array(fc.record({ place: fc.nat(2_000), isNew: fc.boolean() }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.nat(1_900), changes, (row, changed) => {
        let stored = numbered(2_000);
        const pages = new LoadedPages();
        loadAll(pages, stored, 0, 40);
        loadAll(pages, stored, row, row + 40);
        for (const [index, { place, isNew }] of changed.entries())
          stored = isNew ? withBook(stored, place, -1 - index) : stored.toSpliced(place, 1);
        while (!pages.isWhole) loadAll(pages, stored, 0, Math.max(stored.length, pages.end + 1));
        const ids = pages.books().map(({ id }) => id);
        assert.equal(new Set(ids).size, ids.length);
        const kept = stored.filter(({ id }) => id > 0).map(({ id }) => id);
        assert.deepEqual(
          kept.filter((id) => !ids.includes(id)),
          [],
        );
      }),
    );
  });

  test('are few enough, and those near the last row that was read', () => {
    const pages = new LoadedPages();
    const stored = numbered(50_000);
    for (let row = 0; row < 50_000; row += 100) loadAll(pages, stored, row, row + 40);
    assert.ok(pages.count <= 20_000);
    assert.deepEqual(booksAt(pages, 49_900, 49_940), stored.slice(49_900, 49_940));
    loadAll(pages, stored, 0, 40);
    assert.ok(pages.count <= 20_000);
    assert.deepEqual(booksAt(pages, 0, 40), stored.slice(0, 40));
  });

  test('move up where books are removed; former pages can be put back', () => {
    const pages = new LoadedPages();
    loadAll(pages, numbered(2_000), 0, 40);
    loadAll(pages, numbered(2_000), 1_000, 1_040);
    const before = pages.pages;
    assert.deepEqual(
      [...pages.remove([2, 4, 1_005, 1_999])],
      [
        [2, 1],
        [4, 2],
        [1_005, 1_002],
      ],
    );
    assert.deepEqual(
      booksAt(pages, 0, 3).map((each) => each?.id),
      [1, 3, 5],
    );
    assert.deepEqual(
      booksAt(pages, 1_001, 1_003).map((each) => each?.id),
      [1_004, 1_006],
    );
    pages.pages = before;
    assert.deepEqual(
      booksAt(pages, 1_004, 1_005).map((each) => each?.id),
      [1_005],
    );
  });

  test('end before rows that no longer exist', () => {
    const pages = new LoadedPages();
    loadAll(pages, numbered(5_000), 4_900, 4_940);
    pages.add({ start: 4_000, after: undefined }, { books: [], next: undefined });
    assert.deepEqual(pages.pages, []);
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
    ['Œuvres, Straße, İstanbul', 'oeuv strass ist', '[Œuv]res, [Straß]e, [İst]anbul'],
    ['中国人民解放军 和人民', '人民', '中国[人民]解放军 和[人民]'],
    ['東京2020年, C++入門', '2020 入門', '東京[2020]年, C++[入門]'],
    ['東京2020年', '京2', '東[京2]020年'],
    ['大ｶﾞｷとがき', 'ガ が か', '大[ｶﾞ]ｷと[が]き'],
    ['ภาษาไทยที่รัก', 'ไทย ที', 'ภาษา[ไทย][ที่]รัก'],
    ['대한민국', '한', '대[한]민국'],
    ['Hawaiʻi', 'i', 'Hawaiʻ[i]'],
    ['Gogolʹs e\u00adbook', 'gogols eb', '[Gogolʹs] [e\u00adb]ook'],
  ] as const) {
    const parts = matchedParts(text, searchedWords(q));
    assert.equal(parts.join(''), text);
    assert.equal(parts.map((part, index) => (index % 2 === 1 ? `[${part}]` : part)).join(''), marked);
  }
});

test('Days are counted in the calendar, also those of 23 and 25 hours', () => {
  for (const month of [0, 2, 9, 10]) {
    for (let day = 1; day <= 31; day++) {
      const now = new Date(2026, month, day, 0, 30);
      const daysTo = (days: number, ...time: [number, number]) =>
        daysBetween(now, new Date(2026, month, day + days, ...time));
      assert.deepEqual(
        [daysTo(0, 0, 0), daysTo(0, 23, 59), daysTo(-1, 0, 0), daysTo(-1, 23, 59), daysTo(-2, 23, 59)],
        [0, 0, -1, -1, -2],
      );
    }
  }
});

test('A year is read as it is stored, and as each language shows it', () => {
  for (const [text, year] of [
    ['1851', 1851],
    [' -44 ', -44],
    ['−44', -44],
    ['44 BC', -44],
    ['44 b.c.e.', -44],
    ['44 v. Chr.', -44],
    ['44 a. C.', -44],
    ['44\u00A0av. J.-C.', -44],
    ['0', 0],
    ['44 AD', undefined],
    ['BC', undefined],
    ['18xx', undefined],
    ['9007199254740993', undefined],
  ] as const)
    assert.equal(readYear(text), year, text);
});

test('Copied cells are read as spreadsheet programs write them, and books are copied so', () => {
  assert.deepEqual(cellsOf('a\tb\r\n"c\n""d"""\t\n'), [
    ['a', 'b'],
    ['c\n"d"', ''],
  ]);
  assert.deepEqual(cellsOf('5" disks'), [['5" disks']]);
  // Not as formulas, except for years.
  assert.equal(textOf([{ id: 1, title: '=1+1', author: "'-", year: -44 }]), "'=1+1\t''-\t-44");
  assert.deepEqual(cellsOf('"quoted" title\n\nend'), [['"quoted" title'], [''], ['end']]);
  const record = fc.record({ title: fc.string(), author: fc.string(), year: fc.integer() });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1 }), (books) => {
      const copied = books.map((book, index) => ({ id: index + 1, ...book }));
      const cells = books.map(({ title, author, year }) => [title, author, year === 0 ? '' : String(year)]);
      assert.deepEqual(cellsOf(`${textOf(copied)}\n`), cells);
    }),
  );
});

test('A column sorts ascending first, then alternates', () => {
  assert.equal(nextSort('year', 'id'), 'year');
  assert.equal(nextSort('year', 'year'), '-year');
  assert.equal(nextSort('year', '-year'), 'year');
  assert.equal(directionOf('year', '-year'), 'descending');
  assert.equal(directionOf('id', '-year'), 'none');
  assert.equal(SORTS.length, 8);
});

/** Books in the order of their years. */
function numbered(total: number): Book[] {
  return Array.from({ length: total }, (_, index) => ({
    id: index + 1,
    title: '',
    author: '',
    year: index + 1,
  }));
}

function withBook(books: readonly Book[], place: number, id: number): Book[] {
  const year = ((books[place - 1]?.year ?? 0) + (books[place]?.year ?? 10_000)) / 2;
  return books.toSpliced(place, 0, { id, title: '', author: '', year });
}

function booksAt(pages: LoadedPages, start: number, end: number): (Book | undefined)[] {
  return Array.from({ length: end - start }, (_, index) => pages.at(start + index));
}

/** Loads rows as the service lists these books. @returns the number of pages */
function loadAll(pages: LoadedPages, stored: readonly Book[], start: number, end: number): number {
  let count = 0;
  for (let rows = pages.missing(start, end); rows; rows = pages.missing(start, end)) {
    const { after, limit } = rows;
    const offset = after === undefined ? rows.start : stored.findIndex(({ year }) => year > Number(after));
    const books = offset < 0 ? [] : stored.slice(offset, offset + limit);
    const last = books.at(-1);
    pages.add(rows, { books, next: last && last !== stored.at(-1) ? String(last.year) : undefined });
    if (books.length === 0) break;
    count++;
  }
  return count;
}

test('The letter of a command is that of the key, or of its place where the keyboard has another script', () => {
  const letters = [
    { key: 'Z', code: 'KeyY' },
    { key: 'я', code: 'KeyZ' },
    { key: 'Δ', code: 'KeyD' },
    { key: 'ж', code: 'Semicolon' },
    // Latin letters and signs in the place of others are no commands.
    { key: 'à', code: 'KeyZ' },
    { key: ';', code: 'KeyZ' },
    { key: 'Delete', code: 'Delete' },
  ].map(commandLetter);
  assert.deepEqual(letters, ['z', 'z', 'd', 'semicolon', 'à', ';', 'delete']);
});
