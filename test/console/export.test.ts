import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { Format } from '../../src/formats/file-format.ts';
import { type Service, startService } from '../http/service.ts';
import { CLASSICS, store } from './books.ts';
import { assertAccessible, refusals, rowOf, SIZES, seeCount, signIn, Visits } from './visits.ts';

/** More than one page of the list has. */
const SEQUELS = Array.from({ length: 1_500 }, (_, n) => ({
  title: `Sequel ${n}`,
  author: 'Somebody',
  year: n,
}));
const FORMULA = { title: '=SUM(A1:A9)', author: '@somebody', year: -5 };

let service: Service;
let visits: Visits;
before(async () => {
  [service, visits] = await Promise.all([startService(), Visits.start()]);
  await store(service, [...CLASSICS, ...SEQUELS, FORMULA]);
});
after(async () => {
  await visits[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Browsers ask where a file should go, which no test can answer: there it goes to the downloads. */
const WITHOUT_PICKER = 'delete window.showSaveFilePicker';

test('Somebody saves what is shown, in its order, in each format', async (context) => {
  const page = await visits.open(context, `${service.url}/console/?q=austen&sort=-year`);
  if (!page) return;
  await page.evaluate(WITHOUT_PICKER);
  await signIn(page);
  await seeCount(page, '4 books');
  const austen = CLASSICS.map((book, index) => ({ id: index + 1, ...book }))
    .filter(({ author }) => author === 'Jane Austen')
    .toSorted((one, other) => other.year - one.year);
  const rows = austen.map(({ id, title, author, year }) => `${id},${title},${author},${year}\r\n`);

  const dialog = await openDialog(page);
  await dialog.getByText('4 books: all that are listed now, in this order.').waitFor();
  await assertAccessible(page, 'a choice of formats');
  assert.equal((await saved(page, dialog, 'csv')).text, `\uFEFFid,title,author,year\r\n${rows.join('')}`);
  await dialog.getByText('4 books are saved.').waitFor();
  await assertAccessible(page, 'an ending');
  await dialog.getByRole('button', { name: 'Close' }).click();

  const json = await saved(page, await openDialog(page), 'json');
  assert.match(json.name, /^books [0-9]{4}-[0-9]{2}-[0-9]{2}\.json$/);
  assert.deepEqual(JSON.parse(json.text), austen);
  await dialog.getByRole('button', { name: 'Close' }).click();
  const lines = (await saved(page, await openDialog(page), 'ndjson')).text.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    austen,
  );
});

test('With a phone, all books are saved, none of them a formula', async (context) => {
  const page = await visits.open(context, `${service.url}/console/`, SIZES['a phone']);
  if (!page) return;
  await page.evaluate(WITHOUT_PICKER);
  await signIn(page);
  await seeCount(page, '1,544 books');
  const { text } = await saved(page, await openDialog(page), 'csv');
  const lines = text.trimEnd().split('\r\n');
  assert.equal(lines.length, 1 + CLASSICS.length + SEQUELS.length + 1);
  assert.equal(lines.at(-1), `1544,'=SUM(A1:A9),'@somebody,-5`);
});

test('A book that is deleted is not saved, even if it still could be kept', async (context) => {
  const page = await visits.open(context, `${service.url}/console/?q=dracula`);
  if (!page) return;
  await page.evaluate(WITHOUT_PICKER);
  await signIn(page);
  await seeCount(page, '1 book');
  await rowOf(page, 'Dracula').focus();
  await page.keyboard.press('Delete');
  await page.getByText('is deleted.').waitFor();
  assert.deepEqual(JSON.parse((await saved(page, await openDialog(page), 'json')).text), []);
});

test('Where browsers ask for a place, the file goes there, or nowhere', async (context) => {
  const page = await visits.open(context, `${service.url}/console/?q=kafka`);
  if (!page) return;
  await page.evaluate(`
    let isRefused = true;
    window.showSaveFilePicker = async ({ suggestedName }) => {
      if (isRefused) {
        isRefused = false;
        throw new DOMException('no', 'AbortError');
      }
      const folder = await navigator.storage.getDirectory();
      return folder.getFileHandle(suggestedName.split('.').pop(), { create: true });
    }`);
  await signIn(page);
  await seeCount(page, '1 book');
  const dialog = await openDialog(page);
  await dialog.locator('[value=ndjson]').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('1 book is saved.').waitFor();
  const text = await page.evaluate<string>(`
    navigator.storage.getDirectory()
      .then((folder) => folder.getFileHandle('ndjson'))
      .then((handle) => handle.getFile())
      .then((file) => file.text())`);
  assert.equal((JSON.parse(text) as { title: string }).title, 'Die Verwandlung');
});

test('A service that fails in the middle is told of, and nothing is saved', async (context) => {
  const page = await visits.open(context, `${service.url}/console/?q=sequel`, {
    mayComplainOf: refusals(503),
  });
  if (!page) return;
  await page.evaluate(WITHOUT_PICKER);
  await signIn(page);
  await seeCount(page, '1,500 books');
  await page.route(/limit=1000&.*after=/, (route) => route.abort());
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Nothing is saved. The service does not respond.').waitFor();
  await page.unroute(/limit=1000&.*after=/);
  assert.equal((await saved(page, dialog, 'json')).text.split('\n').length, 1_503);
});

async function openDialog(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  return page.getByRole('dialog', { name: 'Export books' });
}

async function saved(page: Page, dialog: Locator, format: Format): Promise<{ name: string; text: string }> {
  await dialog.locator(`[value=${format}]`).check();
  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}
