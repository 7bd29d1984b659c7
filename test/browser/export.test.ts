import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';
import {
  assertAccessible,
  ConsolePages,
  chooseInMenu,
  download,
  failedRequests,
  waitForCount,
  waitForIndex,
} from './console-pages.ts';

/** More than one page of the list. */
const SEQUELS = Array.from({ length: 1_500 }, (_, n) => ({
  title: `Sequel ${n}`,
  author: 'Somebody',
  year: n,
}));
const FORMULA = { title: '=SUM(A1:A9)', author: '@somebody', year: -5 };

let service: Service;
let pages: ConsolePages;
before(async () => {
  [service, pages] = await Promise.all([startService(), ConsolePages.start()]);
  await store(service, [...CLASSICS, ...SEQUELS, FORMULA]);
  await waitForIndex(service);
});
after(async () => {
  await pages[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

test('An export saves the listed books in their order, in CSV and JSON', async (context) => {
  const page = await pages.openSignedIn(context, service, '?q=austen&sort=-year');
  if (!page) return;
  await waitForCount(page, '4 books');
  const austen = CLASSICS.map((book, index) => ({ id: index + 1, ...book }))
    .filter(({ author }) => author === 'Jane Austen')
    .toSorted((one, other) => other.year - one.year);
  const rows = austen.map(({ id, title, author, year }) => `${id},${title},${author},${year}\r\n`);

  const dialog = await openDialog(page);
  await dialog.getByText('4 books: all that are listed now, in this order.').waitFor();
  assert.equal((await saved(page, dialog, 'csv')).text, `\uFEFFid,title,author,year\r\n${rows.join('')}`);
  await dialog.getByText('4 books are saved.').waitFor();
  await assertAccessible(page, 'export saved');
  await dialog.getByRole('button', { name: 'Close' }).click();

  const json = await saved(page, await openDialog(page), 'json');
  assert.match(json.name, /^books [0-9]{4}-[0-9]{2}-[0-9]{2}\.json$/);
  assert.deepEqual(JSON.parse(json.text), austen);
  await dialog.getByRole('button', { name: 'Close' }).click();
});

test('An export saves all books, and escapes formulas', async (context) => {
  const page = await pages.openSignedIn(context, service);
  if (!page) return;
  await waitForCount(page, '1,544 books');
  const { text } = await saved(page, await openDialog(page), 'csv');
  const lines = text.trimEnd().split('\r\n');
  assert.equal(lines.length, 1 + CLASSICS.length + SEQUELS.length + 1);
  assert.equal(lines.at(-1), `1544,'=SUM(A1:A9),'@somebody,-5`);
});

test('An export that loses the connection saves nothing, and reports the error', async (context) => {
  const page = await pages.openSignedIn(context, service, '?q=sequel', {
    expectedMessages: failedRequests(503),
  });
  if (!page) return;
  await waitForCount(page, '1,500 books');
  await page.route(/limit=1000&.*after=/, (route) => route.abort());
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Nothing is saved. The catalogue cannot be reached.').waitFor();
  await page.unroute(/limit=1000&.*after=/);
  assert.equal((await saved(page, dialog, 'json')).text.split('\n').length, 1_503);
});

async function openDialog(page: Page): Promise<Locator> {
  await chooseInMenu(page, 'Export');
  return page.getByRole('dialog', { name: 'Export books' });
}

async function saved(
  page: Page,
  dialog: Locator,
  format: 'csv' | 'json',
): Promise<{ name: string; text: string }> {
  await dialog.locator(`[value=${format}]`).check();
  return download(page, dialog.getByRole('button', { name: 'Save' }));
}
