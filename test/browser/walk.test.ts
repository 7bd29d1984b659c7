import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findBook } from '../console/books.ts';
import {
  button,
  ConsolePages,
  field,
  focusedRow,
  noDialog,
  openBook,
  rowOf,
  SEARCHES_AFTER_WRITES,
  waitForCount,
} from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('A user adds books one after another, corrects one, deletes one and undoes all of that', async (context) => {
  const { page, service } = (await pages.openConsole(context, SEARCHES_AFTER_WRITES)) ?? {};
  if (!page || !service) return;
  await button(page, 'Add a book').click();
  await field(page, 'Year').press('Enter');
  await page.getByText('Enter a title or an author.').waitFor();
  await field(page, 'Title').fill('Middlemarch II');
  await field(page, 'Author').fill('george');
  await page.locator('datalist option[value="George Eliot"]').waitFor({ state: 'attached' });
  await field(page, 'Year').fill('MDCCC');
  await page.getByText('A year is a whole number').waitFor();
  await button(page, 'Save').click();
  await field(page, 'Year').fill('44 BC');
  await button(page, 'Save and add another').click();
  await page.locator('dialog [name=title]:focus').waitFor();
  await waitForCount(page, '44 books');
  assert.equal(await field(page, 'Title').inputValue(), '');
  await page.keyboard.type('Orlando');
  // Enter goes to the next field, and saves in the last one.
  for (const next of ['author', 'year']) {
    await page.keyboard.press('Enter');
    await page.locator(`dialog [name=${next}]:focus`).waitFor();
  }
  await page.keyboard.press('Enter');
  await noDialog(page);
  await waitForCount(page, '45 books');
  await focusedRow(page, 'Orlando').waitFor();
  assert.deepEqual(await findBook(service, 44), {
    id: 44,
    title: 'Middlemarch II',
    author: 'george',
    year: -44,
  });
  await page.evaluate('scrollTo(0, 0)');
  await openBook(page, 'The Iliad');
  await field(page, 'Year').fill('');
  assert.match(page.url(), /[?]book=1$/);
  await button(page, 'Save').click();
  await noDialog(page);
  await page.getByText('Changed: “The Iliad”').waitFor();
  assert.equal(await rowOf(page, 'The Iliad').locator('.year').innerText(), '');
  assert.equal((await findBook(service, 1))?.year, 0);
  await openBook(page, 'The Odyssey');
  await button(page, 'Delete').click();
  await page.getByText('Deleted: “The Odyssey”').waitFor();
  await waitForCount(page, '44 books');
  assert.equal(await findBook(service, 2), undefined);
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('Deletion undone: “The Odyssey” Its number is new').waitFor();
  await focusedRow(page, 'The Odyssey').waitFor();
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('Change undone: “The Iliad”').waitFor();
  assert.equal((await findBook(service, 1))?.year, -750);
  for (const count of ['44 books', '43 books']) {
    await page.keyboard.press('ControlOrMeta+Z');
    await waitForCount(page, count);
  }
});
