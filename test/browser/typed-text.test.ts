import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { BROWSER } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import type { Service } from '../../testkit/service.ts';
import { CLASSICS, findBook } from '../console/books.ts';
import { assertAccessible, ConsolePages, rowOf, SIZES } from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

const editor = (page: Page) => page.locator('.cell-editor:focus');
const typedOf = (page: Page) => editor(page).inputValue();
const FIRST = CLASSICS[0]?.title ?? '';

const waitForStored = (service: Service, id: number, field: 'title' | 'author', text: string) =>
  assertEventually(async () => (await findBook(service, id))?.[field], text);

/** Inserts a text without keys, as an emoji panel or dictation does. */
async function insert(page: Page, text: string): Promise<void> {
  assert.equal(await page.evaluate("document.queryCommandEnabled('insertText')"), true);
  if (BROWSER === 'chromium') return page.keyboard.insertText(text);
  // In Firefox, Playwright inserts it by a script, which sends no event before.
  await page.evaluate(`(() => {
    const data = ${JSON.stringify(text)};
    const init = { inputType: 'insertText', data, bubbles: true, cancelable: true };
    if (document.activeElement.dispatchEvent(new InputEvent('beforeinput', init)))
      document.execCommand('insertText', false, data);
  })()`);
}

/** An input method, which shows what it composes, and then commits it. */
async function inputMethod(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  const compose = async (text: string) => {
    const [selectionStart, selectionEnd] = [text.length, text.length];
    await devtools.send('Input.imeSetComposition', { text, selectionStart, selectionEnd });
  };
  const commit = (text: string) => devtools.send('Input.insertText', { text });
  return { devtools, compose, commit };
}

test('A text that no key types replaces that of the cell, and what follows continues it', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const cell = page.getByRole('gridcell', { name: `${FIRST} Open`, exact: true });
  await cell.click();
  await page.locator('.title:focus').getByText(FIRST).waitFor();
  await assertAccessible(page, 'the active cell');
  await insert(page, '📚');
  await assertEventually(() => typedOf(page), '📚');
  await insert(page, '😀');
  await page.keyboard.type(' x');
  await assertEventually(() => typedOf(page), '📚😀 x');
  await page.keyboard.press('Enter');
  await waitForStored(service, 1, 'title', '📚😀 x');
  // A cell that the keyboard reaches, and the row of a new book.
  await page.keyboard.press('ArrowRight');
  await insert(page, '😀');
  await page.keyboard.press('Escape');
  await page
    .locator('[data-index="1"] .author:focus')
    .getByText(CLASSICS[1]?.author ?? '')
    .waitFor();
  await page.keyboard.press('ControlOrMeta+End');
  await page.locator('.new:focus-within').waitFor();
  await insert(page, '🐳');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await waitForStored(service, CLASSICS.length + 1, 'author', '🐳');
});

test('An input method composes in a closed cell, whose editor continues the text', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright has no input method in it');
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const { compose, commit } = await inputMethod(page);
  await rowOf(page, FIRST).locator('.title').click();
  for (const text of ['n', 'に', 'にほん', '日本']) await compose(text);
  const shown = page.locator('[data-index="0"] .title:focus');
  assert.equal((await shown.innerText()).replace('\u200b', ''), '日本');
  await assertAccessible(page, 'a composition');
  await commit('日本');
  await assertEventually(() => typedOf(page), '日本');
  await compose('ご');
  await commit('語');
  assert.equal(await typedOf(page), '日本語');
  await page.keyboard.press('Enter');
  await waitForStored(service, 1, 'title', '日本語');
  // The next composition follows the first one at once, as the syllables of a Korean word.
  await page.keyboard.press('ArrowRight');
  for (const text of ['ㅎ', '한']) await compose(text);
  await Promise.all([commit('한'), compose('ㄱ'), compose('글'), commit('글')]);
  await assertEventually(() => typedOf(page), '한글');
  await page.keyboard.press('Escape');
  const author = page.locator('[data-index="1"] .author:focus');
  await author.getByText(CLASSICS[1]?.author ?? '').waitFor();
  // One that is cancelled leaves the cell as it was.
  await compose('か');
  await compose('');
  await author.getByText(CLASSICS[1]?.author ?? '').waitFor();
  assert.equal(await editor(page).count(), 0);
});

test('A composition is stored when the user clicks another cell, and a key of the table ends it as it ends an edit', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright has no input method in it');
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const { compose, commit, devtools } = await inputMethod(page);
  await rowOf(page, FIRST).locator('.author').click();
  await compose('ホメロス');
  await rowOf(page, 'Emma').locator('.title').click();
  await waitForStored(service, 1, 'author', 'ホメロス');
  await page.locator('.title:focus').getByText('Emma').waitFor();
  await compose('エマ');
  await commit('エマ');
  await page.keyboard.press('Enter');
  await waitForStored(service, 10, 'title', 'エマ');
  await page.locator('[data-index="10"] .title:focus').waitFor();
  // With AltGr, which is Ctrl with Alt.
  const key = { key: '@', code: 'KeyQ' };
  await devtools.send('Input.dispatchKeyEvent', { ...key, type: 'rawKeyDown', modifiers: 3 });
  await devtools.send('Input.dispatchKeyEvent', { ...key, type: 'char', text: '@' });
  await assertEventually(() => typedOf(page), '@');
});

test('Without a keyboard, no cell is editable for the browser', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright has no touch screen in it');
  const { page, service } = (await pages.openConsole(context, SIZES['a phone'])) ?? {};
  if (!page || !service) return;
  await rowOf(page, FIRST).locator('.title').focus();
  assert.equal(await page.locator('[contenteditable=plaintext-only]').count(), 0);
});
