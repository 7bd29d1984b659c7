import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createClient } from '../../client/index.ts';
import { batchesOf } from '../../console/src/state/files/batches.ts';
import { checkFile, readBooks } from '../../console/src/state/files/check-file.ts';
import { findExistingBooks } from '../../console/src/state/files/existing-books.ts';
import { NumberedRows } from '../../console/src/state/files/file-update.ts';
import type { BookRow } from '../../formats/book-row.ts';
import { keyOf } from '../../formats/equal-books.ts';
import { guessByCells, looksLikeBook } from '../../formats/first-row.ts';
import { createFolder } from '../../testkit/folder.ts';
import { PASSWORD, startService, USERNAME } from '../../testkit/service.ts';
import { query } from '../../testkit/sql.ts';

const MAPPING = { title: 'title', author: 'author', year: 'year' };

describe('A file without a header', () => {
  test('is recognized by a number in its first row', () => {
    assert.ok(looksLikeBook(['Emma', 'Jane Austen', '1815']));
    assert.ok(looksLikeBook(['1', '2']));
    assert.ok(looksLikeBook(['Emma', 'Jane Austen', 'c1815']));
    assert.ok(!looksLikeBook(['Titel', '2']));
    assert.ok(!looksLikeBook(['Nom', 'Quand']));
  });

  test('gets its mapping from its cells', () => {
    const columns = ['#1', '#2', '#3', '#4'];
    const rows = [
      { line: 1, cells: ['1815.0', '1984', 'George Orwell', '1949'] },
      { line: 2, cells: ['A1', 'Emma', 'Jane Austen', '1815.0'] },
    ];
    assert.deepEqual(guessByCells(columns, rows), { title: '#1', author: '#2', year: '#4' });
  });
});

test('Of the stored books, equal ones are counted as often as the file has them, and other rows with the words of one are similar', async () => {
  await using service = await startService();
  const client = createClient({ url: service.url, username: USERNAME, password: PASSWORD });
  const [emma, persuasion] = ['Emma', 'Persuasion'].map((title) => ({
    title,
    author: 'Jane Austen',
    year: 1815,
  }));
  assert.ok(emma && persuasion);
  const others = Array.from({ length: 2_500 }, (_, n) => ({ title: `Volume ${n}`, author: '', year: n }));
  await client.createMany([
    emma,
    emma,
    emma,
    { ...emma, title: 'EMMA.' },
    { ...persuasion, year: 1817 },
    ...others,
  ]);
  const ofFile = new Map(
    (
      [
        [emma, 2],
        [{ ...emma, year: 1816 }, 3],
        [{ ...emma, author: 'jane  austen' }, 1],
        [persuasion, 4],
        [others[7], 2],
        [{ ...emma, title: 'Lady Susan' }, 5],
      ] as const
    ).map(([book, count]) => [keyOf(book ?? emma), count]),
  );
  const progress: number[] = [];
  const { signal } = new AbortController();
  const { existing, similar } = await findExistingBooks(ofFile, client, signal, (books) =>
    progress.push(books),
  );
  assert.deepEqual(
    [...existing],
    [
      [keyOf(emma), 2],
      [keyOf(others[7] ?? emma), 1],
    ],
  );
  // The three, the one and the four; the second row of the volume has no other book.
  assert.equal(similar, 8);
  assert.deepEqual(progress, [1_000, 2_000, 2_505]);
});

test('A check counts valid and invalid rows, and can be aborted', async () => {
  const rows = Array.from(
    { length: 30_000 },
    (_, n) => `${n < 5 ? ' ,' : `Book ${n},Somebody`},${n % 100 === 7 ? 'unknown' : (n % 2_000) + 1}`,
  );
  const file = { file: new File(['title,author,year\n', rows.join('\n')], 'b.csv'), hasHeader: true };
  let part = 0;
  const check = await checkFile(file, MAPPING, {}, new AbortController().signal, (done: number) => {
    assert.ok(done > part && done <= 1);
    part = done;
  });
  assert.equal(part, 1);
  const { valid, invalid, nameless, unreadYears, encoding, errors } = check;
  assert.deepEqual([valid, invalid, nameless, errors.length], [29_700, 300, 5, 300]);
  assert.deepEqual([unreadYears, encoding], [300, 'utf-8']);
  const reading = { acceptsUnreadYears: true };
  const all = await checkFile(file, MAPPING, reading, new AbortController().signal, () => {});
  assert.deepEqual([all.valid, all.invalid, all.unreadYears], [30_000, 0, 300]);
  assert.deepEqual(check.errors[1], {
    line: 109,
    element: undefined,
    error: { kind: 'year', value: 'unknown' },
  });

  const abortion = new AbortController();
  await assert.rejects(
    checkFile(file, MAPPING, {}, abortion.signal, () => abortion.abort(new Error('enough'))),
    /enough/,
  );
});

test('A row that changes a stored book may have its text, which can be too long for a new one, but no other such text', async () => {
  const long = 'x'.repeat(4_097);
  await using folder = await createFolder();
  const dbUrl = `sqlite:${join(folder.path, 'books.db')}`;
  await using service = await startService({ dbUrl });
  await query(dbUrl, "insert into books (title, author, year) values ($1, '', 1), ('Emma', '', 1)", [long]);
  const client = createClient({ url: service.url, username: USERNAME, password: PASSWORD });
  const file = {
    file: new File([`id,title,year\n1,${long},5\n2,${long},1\n,${long},1\n`], 'a.csv'),
    hasHeader: true,
  };
  const mapping = { id: 'id', title: 'title', author: undefined, year: 'year' };
  const { signal } = new AbortController();
  const rows = new NumberedRows();
  const check = await checkFile(file, mapping, { isUpdate: true }, signal, () => {}, rows.add);
  const { plan } = await rows.compare(mapping, client, signal);
  const error = { kind: 'text-too-long', field: 'title' };
  assert.deepEqual(
    [check.errors, plan.invalid],
    [[{ line: 4, element: undefined, error }], [{ line: 3, element: undefined, error }]],
  );
  assert.deepEqual(
    plan.changes.map(({ after }) => [after.id, after.year]),
    [[1, 5]],
  );
});

describe('Batches', () => {
  test('contain the valid rows in their order, up to 1,000 books and 300,000 characters', async () => {
    const title = 'x'.repeat(4_000);
    const rows = [
      ...Array.from({ length: 2_001 }, (_, n) => ({ title: String(n) })),
      { title: true },
      ...Array.from({ length: 76 }, () => ({ title })),
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    const file = { file: new File([text], 'b.ndjson'), hasHeader: true };
    const sizes: number[][] = [];
    for await (const { books, firstLine, lastLine } of batchesOf(readBooks(file, MAPPING), 0)) {
      sizes.push([books.length, firstLine, lastLine]);
    }
    assert.deepEqual(sizes, [
      [1_000, 1, 1_000],
      [1_000, 1_001, 2_000],
      [75, 2_001, 2_076],
      [2, 2_077, 2_078],
    ]);
  });

  test('omit the books that are already stored', async () => {
    const years: number[] = [];
    for await (const { books } of batchesOf(bookRows(), 2)) years.push(...books.map(({ year }) => year));
    assert.deepEqual(years, [4, 5]);
  });
});

async function* bookRows(): AsyncGenerator<BookRow> {
  for (let line = 1; line <= 5; line++) {
    if (line === 2) yield { line, error: { kind: 'empty' }, row: { line, cells: [] } };
    else yield { line, book: { title: '', author: '', year: line } };
  }
}
