import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertEventually } from '../../testkit/eventually.ts';
import { CLASSICS, findBook, manyBooks } from '../console/books.ts';
import {
  button,
  ConsolePages,
  download,
  failedRequests,
  field,
  rowOf,
  waitForCount,
  yearField,
} from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

const check = (page: Page, title: string) => rowOf(page, title).getByRole('checkbox');
const bar = (page: Page, text: string) => page.getByRole('region', { name: 'Selection' }).getByText(text);
const idOf = (title: string) => 1 + CLASSICS.findIndex((book) => book.title === title);

async function setAuthor(page: Page, author: string): Promise<void> {
  // A click that Playwright repeats may scroll the list.
  await button(page, 'Set author').press('Enter');
  await field(page, 'Author').fill(author);
  await page.keyboard.press('Enter');
}

/** The ids of the selected rows in the document. */
function selectedTitles(page: Page): Promise<string[]> {
  return page.locator('[role=row][aria-selected=true] .title').allInnerTexts();
}

test('The author of selected books is set and restored, and the list stays where it is', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { hasHistory: true })) ?? {};
  if (!page || !service) return;
  await page.evaluate('scrollTo(0, 300)');
  await check(page, 'Emma').click();
  await bar(page, '1 selected').waitFor();
  await check(page, 'Persuasion').click({ modifiers: ['Shift'] });
  await bar(page, '3 selected').waitFor();
  assert.deepEqual(await selectedTitles(page), ['Emma', 'Frankenstein', 'Persuasion']);
  const top = async () => (await rowOf(page, 'Frankenstein').boundingBox())?.y;
  const place = await top();
  await setAuthor(page, 'Jane A.');
  await page.getByText('Changed: 3 books').waitFor();
  await rowOf(page, 'Frankenstein').getByText('Jane A.').waitFor();
  assert.equal((await findBook(service, idOf('Frankenstein')))?.author, 'Jane A.');
  // For the next command.
  assert.deepEqual(await selectedTitles(page), ['Emma', 'Frankenstein', 'Persuasion']);
  assert.equal(await top(), place);
  await button(page, 'Undo').press('Enter');
  await page.getByText('Change undone: 3 books').waitFor();
  assert.equal(await page.getByText('Changed: 3 books').count(), 0);
  assert.equal((await findBook(service, idOf('Frankenstein')))?.author, 'Mary Shelley');
  await rowOf(page, 'Frankenstein').getByText('Mary Shelley').waitFor();
  assert.equal(await top(), place);
  await page.locator('.rows :focus').waitFor();
});

test('Check boxes are quiet until the pointer or the focus is in their row, or a book is selected; Delete is last in the bar', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const isQuiet = (row: number) =>
    page.evaluate<boolean>(
      `getComputedStyle(document.querySelector('[data-index="${row}"] input')).opacity < 1`,
    );
  await assertEventually(() => isQuiet(1), true);
  await rowOf(page, 'The Odyssey').hover();
  await assertEventually(() => isQuiet(1), false);
  assert.equal(await isQuiet(2), true);
  await rowOf(page, 'Meditations').locator('.author').focus();
  await assertEventually(() => isQuiet(2), false);
  await check(page, 'The Odyssey').click();
  await bar(page, '1 selected').waitFor();
  await assertEventually(() => isQuiet(5), false);
  assert.equal(await page.locator('.selection button').last().innerText(), 'Delete');
});

test('Selected books are deleted and restored, and those that another user has changed are kept', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { hasHistory: true })) ?? {};
  if (!page || !service) return;
  for (const title of ['The Iliad', 'The Odyssey', 'Meditations']) await check(page, title).click();
  await button(page, 'Delete').click();
  await page.getByText('Deleted: 3 books').waitFor();
  await waitForCount(page, '40 books');
  assert.equal(await findBook(service, 1), undefined);
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '43 books');
  await rowOf(page, 'The Iliad').waitFor();
  assert.deepEqual((await findBook(service, 3))?.title, 'Meditations');
  await service.fetch('PUT', '/book/2', JSON.stringify({ year: -700 }));
  await rowOf(page, 'The Odyssey').getByText('700 BC').waitFor();
});

test('Ctrl+A selects all books of the search, also those that are not loaded; a click excludes one of them', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { books: manyBooks(220) })) ?? {};
  if (!page || !service) return;
  await (await yearField(page, 'To year')).fill('1989');
  await page.keyboard.press('Enter');
  await waitForCount(page, '210 books');
  await page.locator('[data-index="0"] .author').click();
  await page.keyboard.press('ControlOrMeta+A');
  await bar(page, '210 selected').waitFor();
  await check(page, 'Volume 2').click();
  await bar(page, '209 selected').waitFor();
  await button(page, 'Set year').click();
  const year = page.getByRole('dialog').getByRole('textbox', { name: 'Year' });
  await year.fill('x');
  await page.keyboard.press('Enter');
  await page.getByText('A year is a whole number').waitFor();
  await year.fill('1700');
  await page.keyboard.press('Enter');
  await page.getByText('Changed: 209 books').waitFor();
  const countOf = async (query: string) =>
    (await service.fetch('GET', `/books?limit=1&count=true&${query}`)).headers.get('X-Total-Count');
  assert.equal(await countOf('year=1700'), '209');
  assert.equal((await findBook(service, 2))?.year, 1801);
  await page.locator('[data-index="0"] .author').click();
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('Change undone: 209 books').waitFor();
  assert.equal(await countOf('year=1700'), '0');
  assert.equal((await findBook(service, 190))?.year, 1989);
});

test('All books can be deleted only once they are counted, and the bar shows no other number before', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { books: manyBooks(1_500) })) ?? {};
  if (!page || !service) return;
  await waitForCount(page, '1,500 books');
  const { promise: isCounted, resolve: count } = Promise.withResolvers<void>();
  await page.route(/count=true/, async (route) => {
    await isCounted;
    await route.continue();
  });
  await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click();
  await rowOf(page, 'Volume 10').getByRole('checkbox').focus();
  await page.keyboard.press('ControlOrMeta+A');
  await bar(page, 'All are selected, and are being counted …').waitFor();
  assert.equal(await bar(page, 'selected').count(), 1);
  assert.equal(await button(page, 'Delete').count(), 0);
  await page.keyboard.press('Delete');
  await page.locator('.toasts').getByText('All are selected, and are being counted …').waitFor();
  count();
  await bar(page, '1,500 selected').waitFor();
  assert.equal((await findBook(service, 1_500))?.title, 'Volume 1500');
  await button(page, 'Delete').click();
  await page.getByText('Deleted: 1,500 books').waitFor();
});

test('A range with Shift also selects rows that are not loaded yet; a new search clears the selection', async (context) => {
  const { page } = (await pages.openConsole(context, {}, { books: manyBooks(5_000) })) ?? {};
  if (!page) return;
  await waitForCount(page, '5,000 books');
  await check(page, 'Volume 1').click();
  await page.keyboard.press('Control+End');
  await rowOf(page, 'Volume 5000').waitFor();
  // The check box of a row that was not loaded.
  await page.locator('[aria-rowindex="5001"] input:focus').waitFor();
  await rowOf(page, 'Volume 4990')
    .locator('.title')
    .click({ modifiers: ['Shift'] });
  await bar(page, '4,990 selected').waitFor();
  await button(page, 'Clear the selection').click();
  await bar(page, 'selected').waitFor({ state: 'detached' });
  await page.keyboard.press('ControlOrMeta+A');
  await bar(page, '5,000 selected').waitFor();
  await page.getByRole('searchbox').fill('volume 77');
  await bar(page, 'selected').waitFor({ state: 'detached' });
});

test('Books that are gone or changed stay selected, with the reason; after an error, the others too', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(404, 412, 500) })) ?? {};
  if (!page || !service) return;
  for (const title of ['Emma', 'Persuasion', 'Candide']) await check(page, title).click();
  await service.fetch('DELETE', `/book/${idOf('Emma')}`);
  await service.fetch('PUT', `/book/${idOf('Persuasion')}`, JSON.stringify({ author: 'J. A.' }));
  await setAuthor(page, 'N. N.');
  await page.getByText('Changed: “Candide”').waitFor();
  await bar(page, '2 selected').waitFor();
  await bar(page, '2 books were not changed').waitFor();
  const items = await page.getByRole('region', { name: 'Selection' }).getByRole('listitem').allInnerTexts();
  assert.deepEqual(items.toSorted(), [
    'Emma was deleted by another user.',
    'Persuasion was changed by another user.',
  ]);
  assert.equal((await findBook(service, idOf('Candide')))?.author, 'N. N.');
  assert.equal((await findBook(service, idOf('Persuasion')))?.author, 'J. A.');
  await page.keyboard.press('Escape');

  await page.route('**/books', (route) =>
    route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } }),
  );
  for (const title of ['The Iliad', 'The Odyssey']) await check(page, title).click();
  await setAuthor(page, 'N. N.');
  await page.locator('.toast').getByText('Not all books are done.').waitFor();
  await bar(page, '2 selected').waitFor();
  await page.unroute('**/books');
  await setAuthor(page, 'N. N.');
  await page.getByText('Changed: 2 books').waitFor();
});

test('With the keyboard, arrows move by cell, Space and Shift select, and Escape clears', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const focus = (row: number, column: number) =>
    page
      .locator(`[aria-rowindex="${row}"] [aria-colindex="${column}"]`)
      .and(page.locator(':focus, :has(:focus)'));
  await page.keyboard.press('ArrowDown');
  await focus(2, 3).waitFor();
  assert.equal(await page.locator('.rows [tabindex="0"]').count(), 1);
  for (const [key, row, column] of [
    ['ArrowRight', 2, 4],
    ['End', 2, 5],
    ['ArrowRight', 2, 5],
    ['Home', 2, 1],
    ['ArrowRight', 2, 2],
    ['ArrowDown', 3, 2],
    ['ArrowUp', 2, 2],
    ['ArrowUp', 2, 2],
    ['Control+End', 44, 2],
    ['Control+Home', 2, 2],
  ] as const) {
    await page.keyboard.press(key);
    await focus(row, column).waitFor();
  }
  await page.keyboard.press('Space');
  await bar(page, '1 selected').waitFor();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await bar(page, '3 selected').waitFor();
  await page.keyboard.press('Shift+ArrowUp');
  await bar(page, '2 selected').waitFor();
  assert.deepEqual(await selectedTitles(page), ['The Iliad', 'The Odyssey']);
  await page.keyboard.press('Escape');
  await bar(page, 'selected').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
});

test('The selected books are exported', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  await check(page, 'Walden').click();
  await rowOf(page, 'Emma')
    .locator('.author')
    .click({ modifiers: ['ControlOrMeta'] });
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Export' }).click();
  await page.getByText('2 books', { exact: false }).first().waitFor();
  const { text } = await download(page, button(page, 'Save'));
  assert.deepEqual(text.trim().split('\r\n').slice(1), [
    '10,Emma,Jane Austen,1815',
    '19,Walden,Henry David Thoreau,1854',
  ]);
});
