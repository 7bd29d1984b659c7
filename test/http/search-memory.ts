/** Searches 60 books of 1 MiB in SQLite, and prints the maximum resident set size of this process in kB. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { YEAR_MAX } from '../../src/book/book.ts';
import { createFolder } from '../../testkit/folder.ts';
import { openStoreAt } from '../../testkit/stores.ts';

const QUERY = {
  sort: 'id',
  isDescending: false,
  title: 'zzzzz',
  yearFrom: -YEAR_MAX,
  yearTo: YEAR_MAX,
} as const;

await using folder = await createFolder();
await using store = await openStoreAt(`sqlite:${join(folder.path, 'books.db')}`);
for (let year = 0; year < 60; year++) {
  // Cyrillic letters: two bytes each.
  const letters = new Uint16Array(randomBytes(520_000)).map((byte) => 0x400 + byte);
  const title = Buffer.from(letters.buffer).toString('utf16le');
  await store.create({ title, author: '', year });
}
for (let count = await store.count(QUERY); count.last; ) count = await store.count(QUERY, count.last);
for (let page = await store.search(QUERY, 1); page.more === 'unknown'; )
  page = await store.search(QUERY, 1, page.last);
process.stdout.write(`${process.resourceUsage().maxRSS}`);
