import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Book } from '../../client/index.ts';
import { groupTwins } from '../../console/src/state/duplicate-groups.ts';
import { CLASSICS, findBook } from '../console/books.ts';
import { assertAccessible, button, ConsolePages, chooseInMenu, waitForCount } from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('Duplicates have the same words in title and author, and years at most one apart or unknown', () => {
  const books: Book[] = [
    { id: 9, title: 'Emma', author: 'Jane Austen', year: 1815 },
    { id: 2, title: 'EMMA.', author: 'jane  austen', year: 1816 },
    { id: 3, title: 'Emma', author: 'Jane Austen', year: 1820 },
    { id: 4, title: 'emma', author: 'Someone else', year: 1815 },
    { id: 7, title: 'Lés Misérables', author: 'Victor Hugo', year: 1862 },
    { id: 8, title: 'Les Miserables', author: 'Víctor Hugo', year: 0 },
    { id: 12, title: 'Les Miserables', author: 'Victor Hugo', year: 1900 },
    { id: 10, title: '!!!', author: '', year: 0 },
    { id: 11, title: '???', author: '', year: 0 },
  ];
  assert.deepEqual(
    groupTwins(books).map((group) => group.map(({ id }) => id)),
    [
      [2, 9],
      [7, 8, 12],
    ],
  );
});

test('Of duplicates one is kept, which can be undone, or all', async (context) => {
  const books = [
    ...CLASSICS,
    { title: 'EMMA', author: 'Jane AUSTEN', year: 1816 },
    { title: 'Walden', author: 'Henry David Thoreau', year: 1854 },
  ];
  const { page, service } = (await pages.openConsole(context, {}, { books, hasHistory: true })) ?? {};
  if (!page || !service) return;
  await chooseInMenu(page, 'Duplicates');
  await page.getByText('2 groups of books are probably the same.').waitFor();
  await assertAccessible(page, 'duplicates');
  await button(page, 'Keep this one: No. 44').click();
  await page.getByText('1 group of books is probably the same.').waitFor();
  await page.locator('.entries button:focus').waitFor();
  await button(page, 'They are different books').click();
  await page.getByText('No duplicates were found.').waitFor();
  await page.locator('dialog button:focus').getByText('Close').waitFor();
  await button(page, 'Close').click();
  await waitForCount(page, '44 books');
  assert.equal(await findBook(service, 10), undefined);
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '45 books');
  assert.equal((await findBook(service, 10))?.title, 'Emma');
  await chooseInMenu(page, 'Duplicates');
  await page.getByText('1 group of books is probably the same.').waitFor();
});

test('Of the exact copies of thousands of books the oldest are kept at once, which can be undone', async (context) => {
  const copied = Array.from({ length: 1_200 }, (_, number) => ({
    title: `Copied ${number}`,
    author: 'Jane Austen',
    year: 1_800,
  }));
  const books = [...copied, ...copied, { title: 'COPIED 7', author: 'Jane Austen', year: 1_801 }];
  const { page } = (await pages.openConsole(context, {}, { books, hasHistory: true })) ?? {};
  if (!page) return;
  await chooseInMenu(page, 'Duplicates');
  await page.getByText('1,200 groups of books are probably the same.').waitFor();
  await button(page, 'Keep the oldest of all exact copies: delete 1,200 books').click();
  await page.getByText('1 group of books is probably the same.').waitFor();
  await button(page, 'They are different books').click();
  await button(page, 'Close').click();
  await waitForCount(page, '1,201 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '2,401 books');
});
