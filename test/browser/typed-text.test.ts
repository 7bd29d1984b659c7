import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { BROWSER } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';
import { assertAccessible, ConsolePages, failedRequests, rowOf, SIZES, signIn } from './console-pages.ts';

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
  await assertEventually(() => page.evaluate("document.queryCommandEnabled('insertText')"), true);
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
  const cell = page.getByRole('gridcell', { name: FIRST, exact: true });
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

test('A composition stays in its cell, where the user continues it, while another window is looked at or a dialog opens', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright has no input method in it');
  let clockOffset = 0;
  const service = await startService({ now: () => Date.now() + clockOffset });
  await store(service, CLASSICS);
  const expectedMessages = failedRequests(401);
  const page = await pages.openSignedIn(context, service, '', { service, expectedMessages });
  if (!page) return;
  const { compose } = await inputMethod(page);
  const cell = rowOf(page, FIRST).locator('.title');
  await cell.click();
  await compose('日本');
  // For Playwright, each window is the active one.
  await page.evaluate(
    'document.hasFocus = () => false; document.activeElement.blur(); delete document.hasFocus',
  );
  await assertEventually(() => typedOf(page), '日本');
  await page.keyboard.press('Escape');
  await cell.click();
  // A save whose response says that the session is over.
  const { promise: isComposed, resolve: send } = Promise.withResolvers<void>();
  await page.route('**/books', async (route) => {
    await isComposed;
    await route.continue();
  });
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('N. N.');
  await page.keyboard.press('Enter');
  await page.locator('[data-index="1"] .author:focus').waitFor();
  await compose('ホメロス');
  clockOffset = 16 * 60_000;
  send();
  await page.getByRole('dialog').getByText('Please sign in again').waitFor();
  await page.locator('dialog :focus').waitFor();
  await signIn(page);
  await assertEventually(() => typedOf(page), 'ホメロス');
  await rowOf(page, FIRST).getByText('N. N.').waitFor();
  clockOffset = 0;
  assert.deepEqual(await findBook(service, 2), { id: 2, ...CLASSICS[1] });
  assert.equal((await findBook(service, 1))?.title, FIRST);
});

test('A middle click on a cell pastes nothing', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const cell = rowOf(page, FIRST).locator('.title');
  await page.evaluate("addEventListener('paste', () => (document.title = 'pasted'))");
  for (let time = 0; time < 2; time++) await cell.click({ button: 'middle' });
  await page.locator('.title:focus').getByText(FIRST).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-index="1"] .title:focus').waitFor();
  assert.notEqual(await page.title(), 'pasted');
  assert.equal((await findBook(service, 1))?.title, FIRST);
});

test('Assistive technologies get the active cell as a cell, named by what it shows or by its column', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright reads the accessibility tree of Chromium only');
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const devtools = await page.context().newCDPSession(page);
  /** The role and the name of the cell that has the focus. */
  const focused = async () => {
    const { nodes } = await devtools.send('Accessibility.getFullAXTree');
    const isFocused = (node: (typeof nodes)[number]) =>
      node.properties?.some(({ name, value }) => name === 'focused' && value.value === true);
    const { role, name } = nodes.findLast(isFocused) ?? {};
    return [role?.value, name?.value];
  };
  await rowOf(page, FIRST).locator('.title').click();
  await page.locator('[contenteditable=plaintext-only]:focus').waitFor();
  await assertEventually(focused, ['gridcell', FIRST]);
  await page.keyboard.press('ArrowRight');
  await assertEventually(focused, ['gridcell', CLASSICS[0]?.author]);
  await page.keyboard.press('ControlOrMeta+End');
  await assertEventually(focused, ['gridcell', 'Author']);
  await page.keyboard.press('ArrowLeft');
  await assertEventually(focused, ['gridcell', 'New book']);
});

test('Without a keyboard, no cell is editable for the browser', async (context) => {
  if (BROWSER !== 'chromium') return context.skip('Playwright has no touch screen in it');
  const { page, service } = (await pages.openConsole(context, SIZES['a phone'])) ?? {};
  if (!page || !service) return;
  await rowOf(page, FIRST).locator('.title').focus();
  assert.equal(await page.locator('[contenteditable=plaintext-only]').count(), 0);
});
