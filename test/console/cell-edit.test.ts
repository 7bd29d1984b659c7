import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Service } from '../http/service.ts';
import { findBook } from './books.ts';
import { assertAccessible, ConsolePages, failedRequests, rowOf } from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

const editor = (page: Page, name: string) => page.getByRole('grid').getByRole('textbox', { name });

/** Waits until the service has this value. */
async function waitForStored(page: Page, service: Service, id: number, expected: object): Promise<void> {
  const isStored = async () => {
    const book = await findBook(service, id);
    return JSON.stringify({ ...book, ...expected }) === JSON.stringify(book);
  };
  while (!(await isStored())) await page.waitForTimeout(20);
}

test('Cells are edited one after another with the keyboard', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  // The second cell is saved while the first one is.
  const { promise: isSecondEdited, resolve: releaseFirst } = Promise.withResolvers<void>();
  await page.route(
    '**/book/1',
    async (route) => {
      await isSecondEdited;
      await route.continue();
    },
    { times: 1 },
  );
  await rowOf(page, 'The Iliad').locator('.title').click();
  await page.keyboard.press('F2');
  await editor(page, 'Title').waitFor();
  await page.keyboard.type('Ilias');
  await page.keyboard.press('Tab');
  await editor(page, 'Author').waitFor();
  await page.keyboard.type('Homeros');
  await page.keyboard.press('Tab');
  releaseFirst();
  await page.keyboard.type('MMX');
  await page.keyboard.press('Tab');
  await page.getByText('A year is a whole number').waitFor();
  await assertAccessible(page, 'an invalid cell');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('-760');
  await page.keyboard.press('Tab');
  await editor(page, 'Title').waitFor();
  assert.equal(await editor(page, 'Title').inputValue(), 'The Odyssey');
  await page.keyboard.type('Ulixes');
  await page.keyboard.press('Escape');
  await page.locator('[aria-rowindex="3"] .title:focus').getByText('The Odyssey').waitFor();
  await waitForStored(page, service, 1, { title: 'Ilias', author: 'Homeros', year: -760 });
  await rowOf(page, 'Ilias').getByText('760 BC').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Shift+Tab');
  assert.equal(await editor(page, 'Year').inputValue(), '-760');
  await page.keyboard.press('Enter');
  await page.locator('[aria-rowindex="2"] .year:focus').waitFor();
  assert.equal((await findBook(service, 2))?.title, 'The Odyssey');
});

test('A double click edits a cell; changes of another user to other fields are kept, and those to the same field are shown', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(412) })) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'Candide').locator('.title').dblclick();
  await editor(page, 'Title').fill('Candide, ou l’Optimisme');
  await service.fetch('PUT', '/book/6', JSON.stringify({ author: 'François-Marie Arouet' }));
  await page.keyboard.press('Enter');
  await rowOf(page, 'Candide, ou l’Optimisme').getByText('François-Marie Arouet').waitFor();
  await rowOf(page, 'Emma').locator('.author').dblclick();
  await editor(page, 'Author').fill('J. A.');
  await service.fetch('PUT', '/book/10', JSON.stringify({ author: 'Jane A.' }));
  await rowOf(page, 'Emma').locator('.title').click();
  await page.getByText('Conflicting changes').waitFor();
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await rowOf(page, 'Emma').getByText('J. A.').waitFor();
  assert.equal((await findBook(service, 10))?.author, 'J. A.');
});

test('A text that cannot be stored is kept in the dialog', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(503) })) ?? {};
  if (!page || !service) return;
  await page.route('**/book/*', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'Service unavailable', data: null } }),
  );
  await rowOf(page, 'Emma').locator('.year').dblclick();
  await page.keyboard.type('1816');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Not saved yet.').waitFor();
  await page.unroute('**/book/*');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await rowOf(page, 'Emma').getByText('1816').waitFor();
  assert.equal((await findBook(service, 10))?.year, 1816);
});
