import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Book } from '../../client/index.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { Relay } from '../../testkit/relay.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';
import {
  button,
  ConsolePages,
  doubleClick,
  failedRequests,
  focusedRow,
  rowOf,
  SEARCHES_AFTER_WRITES,
  signIn,
  waitForCount,
} from './console-pages.ts';

const SHELF = CLASSICS.slice(0, 5);

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start({ hasClipboard: true });
});
after(() => pages[Symbol.asyncDispose]());

/** Delays the responses to some requests. */
const delay = (page: Page, method: string, ms: number) =>
  page.route('**/books*', async (route) => {
    if (route.request().method() === method) await new Promise((resolve) => setTimeout(resolve, ms));
    await route.continue();
  });

/** Goes to the cell for the title of a new book. */
async function goToNewBook(page: Page): Promise<void> {
  await page.locator('.new').waitFor();
  await page.locator('[data-index="0"] .title').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.locator('.new .title:focus').waitFor();
}

/** Whether the element with the focus is in view, above the bar at the lower edge. */
const isInView = (page: Page) =>
  page.evaluate<boolean>(
    `(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return top > 0 && bottom <= document.querySelector('.bottom').getBoundingClientRect().top;
    })()`,
  );

/** The stored books after the first ones, as `title / author / year`. */
async function added(service: Service): Promise<string[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as {
    data: Book[];
  };
  return data.slice(SHELF.length).map(({ title, author, year }) => `${title} / ${author} / ${year}`);
}

const PAPER_LIST = ['Orlando', 'Flush', 'The Waves', 'The Years', 'Night and Day'];

for (const { keyMs, responseMs } of [
  { keyMs: 50, responseMs: 400 },
  { keyMs: 150, responseMs: 100 },
  { keyMs: 300, responseMs: 700 },
])
  test(`Books typed at ${keyMs} ms a key are stored as they are typed, with responses after ${responseMs} ms and another writer`, async (context) => {
    const { page, service } =
      (await pages.openConsole(context, {}, { hasHistory: true, books: [...SHELF] })) ?? {};
    if (!page || !service) return;
    await delay(page, 'POST', responseMs);
    await delay(page, 'GET', responseMs);
    await goToNewBook(page);
    const typing = new AbortController();
    const other = (async () => {
      for (let number = 1; !typing.signal.aborted; number++) {
        await service.fetch(
          'POST',
          '/book',
          JSON.stringify({ title: 'Other', author: 'Other', year: number }),
        );
        await service.fetch('PUT', '/book/1', JSON.stringify({ year: number }));
        await page.waitForTimeout(responseMs);
      }
    })();
    const expected: string[] = [];
    for (const [index, title] of PAPER_LIST.entries()) {
      for (const [text, key] of [
        [title, 'Tab'],
        [`Author ${index}`, 'Enter'],
        [`192${index}`, 'Enter'],
      ] as const) {
        await page.keyboard.type(text, { delay: keyMs });
        await page.keyboard.press(key);
      }
      expected.push(`${title} / Author ${index} / 192${index}`);
    }
    typing.abort();
    await other;
    const mine = async () => (await added(service)).filter((book) => !book.startsWith('Other'));
    await assertEventually(mine, expected);
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.locator('.new .title:focus').waitFor();
  });

test('A title half typed stays open while another user adds, changes and deletes books, also this one', async (context) => {
  const { page, service } =
    (await pages.openConsole(
      context,
      { expectedMessages: failedRequests(404) },
      { hasHistory: true, books: [...SHELF] },
    )) ?? {};
  if (!page || !service) return;
  await goToNewBook(page);
  await page.keyboard.type('Orlando, a ');
  await service.fetch('POST', '/book', JSON.stringify({ title: 'Other' }));
  await rowOf(page, 'Other').waitFor();
  await page.keyboard.type('Bio');
  await service.fetch('DELETE', '/book/1');
  await rowOf(page, 'The Iliad').waitFor({ state: 'detached' });
  await page.keyboard.type('graphy');
  assert.equal(await page.locator('.new textarea:focus').inputValue(), 'Orlando, a Biography');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await rowOf(page, 'Orlando, a Biography').waitFor();
  await waitForCount(page, '6 books');
  assert.equal((await findBook(service, 7))?.title, 'Orlando, a Biography');
  // The book itself.
  await doubleClick(rowOf(page, 'Meditations').locator('.author'));
  await page.keyboard.press('End');
  await page.keyboard.type(' An');
  await service.fetch('PUT', '/book/2', JSON.stringify({ title: 'Ulixes' }));
  await rowOf(page, 'Ulixes').waitFor();
  await service.fetch('DELETE', '/book/3');
  await rowOf(page, 'Robinson Crusoe').waitFor();
  await waitForCount(page, '5 books');
  await page.keyboard.type('toninus');
  await page.keyboard.press('Enter');
  await page.getByText('You can save your version as a new book.').waitFor();
  await button(page, 'Save as a new book').click();
  await button(page, 'Save').click();
  await rowOf(page, 'Meditations').getByText('Marcus Aurelius Antoninus').waitFor();
});

test('The row of a new book keeps the focus, in view, when a thousand books come before it', async (context) => {
  const { page, service } =
    (await pages.openConsole(
      context,
      { permissions: ['clipboard-read', 'clipboard-write'] },
      { hasHistory: true, books: [...SHELF] },
    )) ?? {};
  if (!page || !service) return;
  await goToNewBook(page);
  const row = page.locator('.new .title:focus');
  const lines = Array.from({ length: 1_500 }, (_, index) => `Pasted ${index}\tAuthor\t1900`);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(lines.join('\n'))})`);
  await page.keyboard.press('ControlOrMeta+V');
  await page.getByText('Added: 1,500 books').waitFor();
  await waitForCount(page, '1,505 books');
  await assertEventually(() => row.isVisible().then((isShown) => isShown && isInView(page)), true);
  await page.keyboard.type('Orlando');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await waitForCount(page, '1,506 books');
  assert.deepEqual((await added(service)).at(-1), 'Orlando /  / 0');
  for (const [key, count] of [
    ['Z', '1,505 books'],
    ['Z', '5 books'],
    ['Y', '1,505 books'],
  ] as const) {
    await page.keyboard.press(`ControlOrMeta+${key}`);
    await waitForCount(page, count);
  }
  await assertEventually(() => row.count().then((count) => count === 1 && isInView(page)), true);
});

test('The cursor stays in the row to which the user moves it while the list is read anew', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  for (const title of ['Dracula', 'Ulysses']) await rowOf(page, title).getByRole('checkbox').click();
  await page.keyboard.press('Delete');
  await page.getByText('Deleted: 2 books').waitFor();
  await rowOf(page, 'Emma').locator('.title').click();
  const { promise: isMoved, resolve: respond } = Promise.withResolvers<void>();
  await page.route('**/books?*', async (route) => {
    await isMoved;
    await route.continue();
  });
  const reading = page.waitForRequest('**/books?*');
  await page.keyboard.press('ControlOrMeta+Z');
  await reading;
  await service.fetch('DELETE', '/book/1');
  await page.keyboard.press('ArrowDown');
  await focusedRow(page, 'Frankenstein').waitFor();
  respond();
  await rowOf(page, 'The Iliad').waitFor({ state: 'detached' });
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  assert.equal(await focusedRow(page, 'Frankenstein').count(), 1);
});

test('A key is for the book to which the user has gone, also when the list comes in another order meanwhile', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const { promise: isMoved, resolve: respond } = Promise.withResolvers<void>();
  await page.route('**/books?*', async (route) => {
    await isMoved;
    await route.continue();
  });
  // Before the next frame, as on a slow machine.
  await page.evaluate(`(async () => {
    document.querySelector('.head .title button').click();
    for (let turn = 0; turn < 20; turn++) await undefined;
    document.querySelector('[data-index="9"] .title').focus();
  })()`);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.keyboard.press('ArrowRight');
  await page.locator('[data-index="9"] .author:focus').waitFor();
  respond();
  await page.locator('[data-index="13"] .author:focus').waitFor();
  assert.equal(await focusedRow(page, 'Emma').count(), 1);
  await page.keyboard.type('J. A.');
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-index="14"] .author:focus').waitFor();
  await assertEventually(async () => (await findBook(service, 10))?.author, 'J. A.');
});

test('What is half typed when the session expires is still half typed after the sign-in', async (context) => {
  let clockOffset = 0;
  const service = await startService({ now: () => Date.now() + clockOffset });
  await store(service, SHELF);
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(401),
  });
  if (!page) return;
  const { promise: isTyped, resolve: send } = Promise.withResolvers<void>();
  await page.route('**/books', async (route) => {
    await isTyped;
    await route.continue();
  });
  await goToNewBook(page);
  await page.keyboard.type('Orlando');
  for (let cell = 0; cell < 3; cell++) await page.keyboard.press('Enter');
  await page.keyboard.type('Fl');
  clockOffset = 16 * 60_000;
  send();
  await page.getByRole('dialog').getByText('Please sign in again').waitFor();
  await signIn(page);
  await page.locator('.new textarea:focus').waitFor();
  await page.keyboard.type('ush');
  assert.equal(await page.locator('.new textarea:focus').inputValue(), 'Flush');
  await rowOf(page, 'Orlando').locator('.id').getByText('6').waitFor();
  // The token of the test is valid again.
  clockOffset = 0;
  assert.deepEqual(await added(service), ['Orlando /  / 0']);
  // The rows of the list come and go while it is scrolled.
  await page.mouse.wheel(0, 3_000);
  await page.mouse.wheel(0, -3_000);
  await page.keyboard.press('ArrowDown');
  await rowOf(page, 'Flush').locator('.id').getByText('7').waitFor();
  assert.deepEqual(await added(service), ['Orlando /  / 0', 'Flush /  / 0']);
});

test('While the service is away the footer says so, no dialog opens, and what was typed is saved when it is back', async (context) => {
  const service = await startService({ hasHistory: true });
  await store(service, SHELF);
  const relay = await Relay.open(service.port);
  context.after(() => relay[Symbol.asyncDispose]());
  const page = await pages.open(context, `http://localhost:${relay.port}/console/`, {
    service,
    token: service.token,
    follows: true,
    expectedMessages: failedRequests(),
  });
  if (!page) return;
  let messages = 0;
  page.on('console', () => messages++);
  relay.truncate = () => 0;
  await rowOf(page, 'The Iliad').locator('.year').click();
  await page.keyboard.type('1999');
  await page.keyboard.press('Enter');
  await page.getByText('Not saved: no connection. It is saved when the connection is back').waitFor();
  await goToNewBook(page);
  for (const title of ['Orlando', 'Flush']) {
    await page.keyboard.type(title);
    for (let cell = 0; cell < 3; cell++) await page.keyboard.press('Enter');
  }
  await page.keyboard.type('The W');
  const saving = page.locator('.saving').getByText(/1999|Orlando|Flush/);
  await assertEventually(() => saving.count(), 3);
  assert.equal(await page.getByRole('dialog').count(), 0);
  // Each pause between two attempts is longer than the last one.
  await page.waitForTimeout(5_000);
  assert.ok(messages < 12, `${messages} messages`);
  relay.truncate = undefined;
  await assertEventually(() => added(service), ['Orlando /  / 0', 'Flush /  / 0']);
  await page.keyboard.type('aves');
  assert.equal((await findBook(service, 1))?.year, 1999);
  assert.equal(await page.locator('.new textarea:focus').inputValue(), 'The Waves');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').getByText('Discard your changes?').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.new textarea:focus').waitFor();
  await page.keyboard.press('Escape');
  await button(page, 'Discard').click();
  await page.locator('.new .title:focus').getByText('New book').waitFor();
});

test('Enter goes down, and an arrow key ends what is typed over a cell, but not what is edited in it', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { books: [...SHELF] })) ?? {};
  if (!page || !service) return;
  await page.locator('[data-index="0"] .year').click();
  for (const year of ['1', '2', '3']) {
    await page.keyboard.type(year);
    await page.keyboard.press('Enter');
  }
  await page.locator('[data-index="3"] .year:focus').waitFor();
  await page.keyboard.type('4');
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-index="4"] .year:focus').waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.type('5');
  await page.keyboard.press('ArrowLeft');
  await page.locator('[data-index="2"] .author:focus').waitFor();
  await page.keyboard.press('F2');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('x');
  await page.keyboard.press('Enter');
  await page.locator('[data-index="3"] .author:focus').waitFor();
  const expected = [1, 2, 5, 4];
  const years = async () =>
    Promise.all(expected.map(async (_, index) => (await findBook(service, index + 1))?.year));
  await assertEventually(years, expected);
  await rowOf(page, 'Mxarcus Aurelius').waitFor();
  // A new book.
  await goToNewBook(page);
  await page.keyboard.type('Orlando');
  await page.keyboard.press('ArrowRight');
  await page.locator('.new [name=author]:focus').waitFor();
  await page.keyboard.type('Woolf');
  await page.keyboard.press('ArrowRight');
  await page.locator('.new [name=year]:focus').waitFor();
  await page.keyboard.type('1928');
  await page.keyboard.press('ArrowDown');
  await rowOf(page, 'Orlando').getByText('1928').waitFor();
  await page.locator('.new .title:focus').waitFor();
  await assertEventually(() => added(service), ['Orlando / Woolf / 1928']);
});

/** Sends a key as Safari sends the one that ends a composition of an input method: not as a part of it. */
const sendInputMethodKey = (page: Page, key: string) =>
  page.evaluate(`document.activeElement.dispatchEvent(
    new KeyboardEvent('keydown', { key: '${key}', keyCode: 229, bubbles: true, cancelable: true }))`);

test('Keys of an input method are for it: they neither save a cell nor discard it, nor clear or leave the search; Ctrl with a letter of another script undoes', async (context) => {
  const { page } = (await pages.openConsole(context, SEARCHES_AFTER_WRITES, { books: [...SHELF] })) ?? {};
  if (!page) return;
  const editor = page.locator('.cell-editor');
  await doubleClick(rowOf(page, 'The Odyssey').locator('.title'));
  await editor.fill('源氏物語');
  for (const key of ['Enter', 'Escape', 'Tab', 'ArrowDown']) await sendInputMethodKey(page, key);
  assert.equal(await editor.inputValue(), '源氏物語');
  await page.keyboard.press('Enter');
  await rowOf(page, '源氏物語').waitFor();
  // The undo of a keyboard of another script.
  await page.evaluate(`document.activeElement.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'я', code: 'KeyZ', ctrlKey: true, bubbles: true, cancelable: true }))`);
  await rowOf(page, 'The Odyssey').waitFor();
  await page.getByRole('searchbox').fill('源氏');
  for (const key of ['ArrowDown', 'Escape']) await sendInputMethodKey(page, key);
  assert.equal(await page.locator('#search:focus').inputValue(), '源氏');
});

test('An undo whose response comes late leaves the focus in the search, where the user types', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, SEARCHES_AFTER_WRITES, { books: [...SHELF] })) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'The Odyssey').locator('.year').click();
  await page.keyboard.type('1234');
  await page.keyboard.press('Enter');
  await assertEventually(async () => (await findBook(service, 2))?.year, 1234);
  const { promise: isTyped, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/books', async (route) => {
    if (route.request().method() === 'PATCH') await isTyped;
    await route.continue();
  });
  await page.keyboard.press('ControlOrMeta+Z');
  await page.keyboard.press('ControlOrMeta+K');
  release();
  await page.getByText('Change undone: ').waitFor();
  await page.keyboard.type('iliad');
  await waitForCount(page, '1 book');
  assert.equal(await page.locator('#search:focus').inputValue(), 'iliad');
  assert.notEqual((await findBook(service, 2))?.year, 1234);
});
