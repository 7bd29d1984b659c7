import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { BookFields } from '../../client/index.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import type { Service } from '../../testkit/service.ts';
import { CLASSICS, findBook } from '../console/books.ts';
import {
  assertAccessible,
  ConsolePages,
  DOUBLE_CLICKS,
  doubleClick,
  failedRequests,
  focusedRow,
  paste,
  rowOf,
  waitForCount,
} from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start({ hasClipboard: true });
});
after(() => pages[Symbol.asyncDispose]());

const editor = (page: Page, name: string) => {
  const grid = page.getByRole('grid');
  return grid.getByRole('textbox', { name }).or(grid.getByRole('combobox', { name }));
};

/** Waits until the service has these values. */
async function waitForStored(service: Service, id: number, expected: Partial<BookFields>): Promise<void> {
  const names = Object.keys(expected) as (keyof BookFields)[];
  const read = async () => {
    const book = await findBook(service, id);
    return book && Object.fromEntries(names.map((name) => [name, book[name]]));
  };
  await assertEventually(read, expected);
}

test('Cells are edited one after another with the keyboard', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  // The second cell is saved while the first one is.
  const { promise: isSecondEdited, resolve: releaseFirst } = Promise.withResolvers<void>();
  await page.route(
    '**/books',
    async (route) => {
      await isSecondEdited;
      await route.continue();
    },
    { times: 1 },
  );
  await rowOf(page, 'The Iliad').locator('.title').focus();
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
  await waitForStored(service, 1, { title: 'Ilias', author: 'Homeros', year: -760 });
  await rowOf(page, 'Ilias').getByText('760 BC').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Shift+Tab');
  assert.equal(await editor(page, 'Year').inputValue(), '-760');
  await page.keyboard.press('Enter');
  await page.locator('[aria-rowindex="3"] .year:focus').waitFor();
  assert.equal((await findBook(service, 2))?.title, 'The Odyssey');
});

test('A double click edits a cell; changes of another user to other fields are kept, and those to the same field are shown', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(412) })) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'Candide').locator('.title').focus();
  await page.keyboard.press('F2');
  await editor(page, 'Title').fill('Candide, ou l’Optimisme');
  await service.fetch('PUT', '/book/6', JSON.stringify({ author: 'François-Marie Arouet' }));
  await page.keyboard.press('Enter');
  await rowOf(page, 'Candide, ou l’Optimisme').getByText('François-Marie Arouet').waitFor();
  await doubleClick(rowOf(page, 'Emma').locator('.author'));
  await editor(page, 'Author').fill('J. A.');
  await service.fetch('PUT', '/book/10', JSON.stringify({ author: 'Jane A.' }));
  await rowOf(page, 'Emma').locator('.year').click();
  await page.getByText('Conflicting changes').waitFor();
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await rowOf(page, 'Emma').getByText('J. A.').waitFor();
  assert.equal((await findBook(service, 10))?.author, 'J. A.');
});

test('A clicked cell shows the cursor, which Delete empties; a double click edits, and “Open” opens the book', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const outline = () => page.evaluate('getComputedStyle(document.activeElement).outlineWidth');
  await rowOf(page, 'Candide').locator('.author').click();
  assert.equal(await outline(), '2px');
  await page.keyboard.press('Delete');
  await waitForStored(service, 6, { title: 'Candide', author: '' });
  await rowOf(page, 'Candide').locator('.title').click();
  await page.keyboard.press('Backspace');
  await page.getByText('Enter a title or an author.').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForStored(service, 6, { title: 'Candide', author: 'Voltaire' });
  await doubleClick(rowOf(page, 'Candide').locator('.title'));
  assert.equal(await editor(page, 'Title').inputValue(), 'Candide');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('Escape');
  // A click beside the dialog, fast or not, goes back once.
  await page.getByRole('searchbox').fill('emma');
  // The row moves while its button is pressed otherwise.
  await waitForCount(page, '1 book');
  await rowOf(page, 'Emma').hover();
  await rowOf(page, 'Emma').getByRole('button', { name: 'Open' }).click({ clickCount: DOUBLE_CLICKS });
  await page.getByRole('dialog').waitFor();
  await page.mouse.click(5, 300, { clickCount: 1 });
  await page.mouse.click(5, 300, { clickCount: 1 });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // The browser goes back after the dialog is closed.
  await page.waitForURL(/[?]q=emma$/);
  assert.equal(await page.getByRole('searchbox').inputValue(), 'emma');
});

test('The empty row after the last book takes typed and pasted books', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { permissions: ['clipboard-read', 'clipboard-write'] })) ?? {};
  if (!page || !service) return;
  await page.locator('[data-index="0"] .title').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.locator('.new:focus-within').getByText('New book').waitFor();
  await page.evaluate("navigator.clipboard.writeText('Orlando')");
  await page.keyboard.press('ControlOrMeta+V');
  await page.locator('.new textarea:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.new [name=author]:focus').waitFor();
  await page.keyboard.type('Virginia Woolf');
  await page.keyboard.press('Tab');
  await page.keyboard.type('1928');
  assert.equal(await findBook(service, 44), undefined);
  await page.keyboard.press('Enter');
  await page.locator('[aria-rowindex="45"]').getByText('Orlando').waitFor();
  await waitForStored(service, 44, { title: 'Orlando', author: 'Virginia Woolf', year: 1928 });
  // For the next one.
  await page.locator('.new .title:focus').waitFor();
  await page.evaluate(
    "navigator.clipboard.writeText('The Waves\\tVirginia Woolf\\t1931\\nFlush\\tVirginia Woolf\\t1933')",
  );
  await page.keyboard.press('ControlOrMeta+V');
  await page.getByText('Added: 2 books').waitFor();
  assert.equal((await findBook(service, 46))?.title, 'Flush');
});

test('A text that cannot be stored is kept in the dialog', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(500) })) ?? {};
  if (!page || !service) return;
  await page.route('**/books', (route) =>
    route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } }),
  );
  await doubleClick(rowOf(page, 'Emma').locator('.year'));
  await page.keyboard.type('1816');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Not saved yet.').waitFor();
  await page.unroute('**/books');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await rowOf(page, 'Emma').getByText('1816').waitFor();
  assert.equal((await findBook(service, 10))?.year, 1816);
});

test('Typing on a cell replaces its text, an author is suggested, and Ctrl+Z restores it', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'The Iliad').locator('.author').click();
  await page.keyboard.type('jane a');
  await page.locator('datalist option[value="Jane Austen"]').waitFor({ state: 'attached' });
  await assertAccessible(page, 'suggestions');
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.keyboard.press('Enter');
  await page.locator('[aria-rowindex="2"] .author').getByText('jane a').waitFor();
  await saved;
  await waitForStored(service, 1, { author: 'jane a' });
  await page.keyboard.press('ControlOrMeta+Z');
  await page.locator('[aria-rowindex="2"] .author:focus').getByText('Homer').waitFor();
  await waitForStored(service, 1, { author: 'Homer' });
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('x');
  await page.keyboard.press('Escape');
  await page.locator('[aria-rowindex="2"] .title:focus').getByText('The Iliad').waitFor();
  // A book keeps a title or an author.
  await page.keyboard.press('F2');
  await editor(page, 'Title').fill('');
  await page.keyboard.press('Tab');
  await editor(page, 'Author').fill('');
  await page.keyboard.press('Enter');
  await page.getByText('Enter a title or an author.').waitFor();
  await page.keyboard.press('Escape');
  await waitForStored(service, 1, { title: '', author: 'Homer' });
});

test('Cells and selected books are copied and pasted as in a spreadsheet', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { permissions: ['clipboard-read', 'clipboard-write'] })) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'The Iliad').locator('.author').click();
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  await page.keyboard.press('ControlOrMeta+C');
  await assertEventually(copied, 'Homer');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const { promise: isSeen, resolve: release } = Promise.withResolvers<void>();
  // On a busy machine, the request may be repeated after its timeout.
  await page.route('**/books', async (route) => {
    await isSeen;
    await route.continue();
  });
  await page.keyboard.press('ControlOrMeta+V');
  await page.locator('.saving').getByText('Homer').waitFor();
  await page.getByText('Saving …').waitFor();
  release();
  await waitForStored(service, 3, { author: 'Homer' });
  await page.locator('.saving').waitFor({ state: 'detached' });
  for (const title of ['Candide', 'Emma']) await rowOf(page, title).getByRole('checkbox').click();
  await page.keyboard.press('ControlOrMeta+C');
  await assertEventually(copied, 'Candide\tVoltaire\t1759\nEmma\tJane Austen\t1815');
  await page.keyboard.press('Escape');
  await rowOf(page, 'Walden').locator('.author').click();
  await page.keyboard.press('ControlOrMeta+V');
  await page.getByText('Nothing was pasted: there are more columns than fields from here on.').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ControlOrMeta+V');
  await page.getByText('Replace what 2 books have in these cells?').waitFor();
  await page.getByRole('button', { name: 'Paste' }).click();
  await page.getByText('Changed: 2 books').waitFor();
  assert.equal((await findBook(service, 20))?.title, 'Emma');
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('Change undone: 2 books').waitFor();
  assert.equal((await findBook(service, 20))?.title, 'Madame Bovary');
});

test('Several books that were pasted can be shown: the button goes to the first of them', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  await rowOf(page, 'The Iliad').locator('.title').click();
  await page.keyboard.press('Control+End');
  await page.locator('.new:focus-within').waitFor();
  await paste(page, 'Dubliners\nUlysses');
  // The mouse keeps the message, which would disappear after a time.
  await page.getByText('Added: 2 books').hover();
  await page.keyboard.press('Control+Home');
  await page.getByRole('button', { name: 'Show the books' }).click();
  await focusedRow(page, 'Dubliners').waitFor();
});

test('An editor does not move the text of its cell, nor its row, and grows with a long title', async (context) => {
  const { page } =
    (await pages.openConsole(
      context,
      {},
      { books: [{ title: 'W'.repeat(300), author: 'A', year: 1 }, ...CLASSICS] },
    )) ?? {};
  if (!page) return;
  const place = (selector: string) => page.locator(selector).first().boundingBox();
  /** Where the text of an element begins, and its middle. */
  const textAt = (selector: string) =>
    page.evaluate<[number, number]>(`(() => {
      const element = document.querySelector('${selector}');
      const { borderLeftWidth, paddingLeft } = getComputedStyle(element);
      const { left, top, height } = element.getBoundingClientRect();
      return [left + parseFloat(borderLeftWidth) + parseFloat(paddingLeft), top + height / 2];
    })()`);
  await rowOf(page, 'The Iliad').locator('.title').focus();
  const row = await place('[data-index="1"] .id a');
  const [x, y] = await textAt('[data-index="1"] .title .text');
  await page.keyboard.press('F2');
  await page.locator('.cell-editor:focus').waitFor();
  const [editorX, editorY] = await textAt('.cell-editor');
  assert.ok(Math.abs(editorX - x) <= 1 && Math.abs(editorY - y) <= 1, `${editorX - x} ${editorY - y}`);
  assert.deepEqual(await place('[data-index="1"] .id a'), row);
  const height = (await place('.cell-editor'))?.height ?? 0;
  await page.keyboard.press('Escape');
  await page.locator('[data-index="1"] .title:focus').waitFor();
  await page.keyboard.press('ArrowUp');
  await page.locator('[data-index="0"] .title:focus').waitFor();
  await page.keyboard.press('F2');
  assert.ok(((await place('[data-index="0"] .cell-editor'))?.height ?? 0) > 2 * height);
});
