import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findDuplicates } from '../../console/src/duplicates/duplicate-groups.ts';
import type { Book } from '../../src/client/index.ts';
import { startService } from '../http/service.ts';
import { CLASSICS, findBook, store } from './books.ts';
import { assertAccessible, ConsolePages, rowOf, SIZES, signIn, waitForCount } from './console-pages.ts';

/** Longer than a deletion can be undone. */
const AFTER_UNDO_MS = 9_000;

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('Duplicates have the same words in title and author, and years at most one apart', async () => {
  const books: Book[] = [
    { id: 9, title: 'Emma', author: 'Jane Austen', year: 1815 },
    { id: 2, title: 'EMMA.', author: 'jane  austen', year: 1816 },
    { id: 3, title: 'Emma', author: 'Jane Austen', year: 1820 },
    { id: 4, title: 'emma', author: 'Someone else', year: 1815 },
    { id: 7, title: 'Lés Misérables', author: 'Victor Hugo', year: 1862 },
    { id: 8, title: 'Les Miserables', author: 'Víctor Hugo', year: 1862 },
    { id: 10, title: '!!!', author: '', year: 0 },
    { id: 11, title: '???', author: '', year: 0 },
  ];
  async function* inPages(size: number) {
    for (let start = 0; start < books.length; start += size) yield books.slice(start, start + size);
  }
  for (const size of [1, 3, 100]) {
    const groups = await Array.fromAsync(findDuplicates(inPages(size)));
    assert.deepEqual(
      groups.map((group) => group.map(({ id }) => id)),
      [
        [2, 9],
        [7, 8],
      ],
    );
  }
});

for (const [size, options] of Object.entries(SIZES)) {
  test(`On ${size}, duplicates are merged, undone, and kept`, async (context) => {
    const service = await startService();
    await store(service, [
      ...CLASSICS,
      { title: 'EMMA', author: 'Jane AUSTEN', year: 1816 },
      { title: 'Walden', author: 'Henry David Thoreau', year: 1854 },
    ]);
    const page = await pages.open(context, `${service.url}/console/`, options);
    // After the page, which may still send requests.
    context.after(() => service[Symbol.asyncDispose]());
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    await rowOf(page, 'Emma').waitFor();
    const open = () => page.getByRole('button', { name: 'Duplicates' }).click();
    const button = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
    await open();
    await page.getByText('2 groups of books are probably the same.').waitFor();
    await assertAccessible(page, 'duplicates');
    await page.getByRole('row', { name: 'Year' }).getByRole('radio').nth(1).click();
    await button('Merge').click();
    await page.getByText('1 group of books is probably the same.').waitFor();
    await page.locator('[type=radio]:focus').waitFor();
    await button('Keep all').click();
    await page.getByText('No duplicates were found.').waitFor();
    await button('Close').click();
    await page.getByText('2 books are merged into No. 10.').waitFor();
    await waitForCount(page, '44 books');
    assert.deepEqual(await findBook(service, 10), {
      id: 10,
      title: 'Emma',
      author: 'Jane Austen',
      year: 1816,
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await waitForCount(page, '45 books');
    await rowOf(page, 'Emma').getByText('1815').waitFor();

    await open();
    await page.getByText('1 group of books is probably the same.').waitFor();
    await button('Merge').click();
    await page.getByText('No duplicates were found.').waitFor();
    await button('Close').click();
    await waitForCount(page, '44 books');
    await page.mouse.move(0, 0);
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.clock.runFor(AFTER_UNDO_MS);
    assert.equal((await deleted).status(), 200);
    assert.equal(await findBook(service, 44), undefined);
    assert.equal((await findBook(service, 10))?.year, 1815);
  });
}
