import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { UNSUPPORTED } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';
import {
  button,
  ConsolePages,
  chooseInMenu,
  failedRequests,
  openBook,
  type PageOptions,
  rowOf,
  SIZES,
  titlesOf,
  waitForCount,
  waitForIndex,
  yearField,
} from './console-pages.ts';

/** Texts that a page may misinterpret or display wrongly. */
const UNUSUAL_BOOKS = [
  {
    title: '<img src=x onerror="document.title=1">',
    author: '<script>document.title = 2</script>',
    year: 2001,
  },
  { title: 'كتاب الحيوان', author: 'الجاحظ', year: 860 },
  { title: 'W'.repeat(4_096), author: 'long '.repeat(800), year: 9007199254740991 },
  { title: '', author: '', year: 0 },
  { title: '  ', author: 'two  spaces', year: -9007199254740991 },
  { title: 'two\nlines', author: 'a\ttab', year: 2002 },
];

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, CLASSICS);
  await waitForIndex(service);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

const openConsole = (context: TestContext, query = '', options: PageOptions = {}) =>
  pages.openSignedIn(context, service, query, options);

test('“Show all books” shows all books also while a typed search is pending', async (context) => {
  const page = await openConsole(context, '?q=xylophone');
  if (!page) return;
  await page.getByText('No books found.').waitFor();
  await page.getByRole('searchbox').fill('zeppelin');
  await page.getByRole('button', { name: 'Show all books' }).click();
  await waitForCount(page, '43 books');
  await assertEventually(() => page.getByRole('searchbox').inputValue(), '');
});

test('Typing searches the books, the URL contains the search, and the back button restores the previous view', async (context) => {
  const page = await openConsole(context);
  if (!page) return;
  await waitForCount(page, '43 books');
  const search = page.getByRole('searchbox');
  await search.pressSequentially('tolst');
  // Its beginning, which a slow machine searches first, has the same two books.
  await page.waitForURL(/\?q=tolst$/);
  await waitForCount(page, '2 books');
  assert.deepEqual(await titlesOf(page), ['War and Peace', 'Anna Karenina']);
  await (await yearField(page, 'From year')).fill('1870');
  await waitForCount(page, '1 book');
  assert.match(page.url(), /\?q=tolst&from=1870$/);
  await page.goBack();
  await waitForCount(page, '43 books');
  await assertEventually(() => search.inputValue(), '');
  await assertEventually(() => page.getByLabel('From year').inputValue(), '');
  await page.goForward();
  await waitForCount(page, '1 book');
  await assertEventually(() => search.inputValue(), 'tolst');
});

test('A button shows the years, and opens their fields; Enter and Esc close them', async (context) => {
  const page = await openConsole(context, '?from=1870');
  if (!page) return;
  const from = page.getByLabel('From year');
  await button(page, 'Years: 1870 –').click();
  await page.locator('#year-from:focus').waitFor();
  await (await yearField(page, 'To year')).fill('1879');
  await page.keyboard.press('Enter');
  await from.waitFor({ state: 'hidden' });
  await button(page, 'Years: 1870 – 1879').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await from.fill('');
  await (await yearField(page, 'To year')).fill('0');
  await button(page, 'Years: – 0').waitFor();
  await page.keyboard.press('Escape');
  await from.waitFor({ state: 'hidden' });
});

test('On a phone, a button of the bar that stays opens the years and the sort order, also after scrolling', async (context) => {
  const page = await openConsole(context, '', SIZES['a phone']);
  if (!page) return;
  assert.equal(await page.getByLabel('Sort by').isVisible(), false);
  await page.evaluate('scrollTo(0, 900)');
  await button(page, 'Filter').click();
  const { y = -1 } = (await page.getByLabel('Sort by').boundingBox()) ?? {};
  assert.ok(y >= 0 && y < 200, `${y}`);
  await page.getByLabel('Sort by').selectOption('-title');
  await page.locator('[data-index="0"] .title').getByText('Wuthering Heights', { exact: true }).waitFor();
  await page.goto(`${service.url}/console/?q=austen&from=1812&to=1816&sort=-year`);
  await waitForCount(page, '2 books');
  assert.deepEqual(await titlesOf(page), ['Emma', 'Pride and Prejudice']);
  assert.equal(await page.getByLabel('To year').inputValue(), '1816');
});

test('The chart is shown on demand; a click on a bar filters by its decade; with Shift, it extends the range', async (context) => {
  const page = await openConsole(context);
  if (!page) return;
  assert.equal(await page.getByRole('table').count(), 0);
  await chooseInMenu(page, 'Show the chart');
  const bar = button(page, '1890s: 5 books');
  await bar.click();
  await waitForCount(page, '5 books');
  assert.match(page.url(), /\?from=1890&to=1899$/);
  assert.equal(await bar.getAttribute('aria-pressed'), 'true');
  await button(page, '1900s: 3 books').click({ modifiers: ['Shift'] });
  await waitForCount(page, '8 books');
  await (await yearField(page, 'From year')).fill('');
  await (await yearField(page, 'To year')).fill('');
  await waitForCount(page, '43 books');
  // The books BC have one bar, and the first decade includes all years between.
  await button(page, 'Up to 1 BC: 2 books').click();
  await waitForCount(page, '2 books');
  assert.deepEqual(await titlesOf(page), ['The Iliad', 'The Odyssey']);
  await button(page, 'Up to 1709: 1 book').click();
  await waitForCount(page, '1 book');
  assert.equal((await titlesOf(page))[0], 'Meditations');
  await page.reload();
  await page.getByRole('table', { name: 'Books by decade' }).waitFor();
  await chooseInMenu(page, 'Hide the chart');
  await page.getByRole('table').waitFor({ state: 'detached' });
});

for (const [size, options] of Object.entries(SIZES)) {
  test(`On ${size}, unusual texts are displayed as text, and do not exceed the width of the window`, async (context) => {
    const { page } = (await pages.openConsole(context, options, { books: UNUSUAL_BOOKS })) ?? {};
    if (!page) return;
    const rows = page.locator('[data-index]');
    assert.equal(await rows.nth(0).locator('.title').textContent(), UNUSUAL_BOOKS[0]?.title);
    assert.equal(await rows.nth(0).locator('.author').textContent(), UNUSUAL_BOOKS[0]?.author);
    const direction = `getComputedStyle(document.querySelector('[data-index="1"] .text')).direction`;
    assert.equal(await page.evaluate(direction), 'rtl');
    assert.match((await rows.nth(2).locator('.title').textContent()) ?? '', /^W{400}…$/);
    assert.equal(await rows.nth(3).locator('.title').innerText(), '(no title)');
    assert.equal(await rows.nth(3).locator('.author').innerText(), '(no author)');
    assert.equal(await rows.nth(4).locator('.title').innerText(), '␣␣');
    assert.equal(await rows.nth(4).locator('.author').textContent(), 'two  spaces');
    assert.equal(await rows.nth(5).locator('.title').innerText(), 'two↵lines');
    const heights = await Promise.all(
      (await rows.all()).map(async (row) => (await row.boundingBox())?.height),
    );
    assert.equal(new Set(heights).size, 1);
    await assertNotTooWide(page);
    await openBook(page, `${'W'.repeat(400)}…`);
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Title' }).inputValue(), UNUSUAL_BOOKS[2]?.title);
    await assertNotTooWide(page);
    assert.equal(await page.title(), 'Catalogue');
    assert.equal(await page.locator('#app img, #app script').count(), 0);
  });
}

test('A click on a column header sorts ascending, then descending, and sets aria-sort', async (context) => {
  const page = await openConsole(context);
  if (!page) return;
  const head = page.getByRole('columnheader', { name: 'Year' });
  const years = async () => (await page.locator('[data-index] .year').allInnerTexts()).slice(0, 3);
  await head.getByRole('button').click();
  await rowOf(page, 'The Iliad').waitFor();
  await page.locator('[data-index="0"] .year').getByText('750 BC', { exact: true }).waitFor();
  assert.deepEqual(await years(), ['750 BC', '725 BC', '180']);
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  await head.getByRole('button').click();
  await page.locator('[data-index="0"] .year').getByText('1927', { exact: true }).waitFor();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.match(page.url(), /\?sort=-year$/);
});

test('# and / in the search lead to a number, a text or a year in the present order', async (context) => {
  const page = await openConsole(context, '?sort=author', { expectedMessages: failedRequests(404) });
  if (!page) return;
  const search = page.getByRole('searchbox');
  const goTo = async (place: string, row: number, text: string) => {
    await search.fill(place);
    await page.keyboard.press('Enter');
    await assertEventually(() => search.inputValue(), '');
    const focused = page.locator(`[aria-rowindex="${row + 1}"]:focus-within`);
    await focused.getByText(text, { exact: true }).first().waitFor();
    await page.getByText('There is no such place').waitFor({ state: 'detached' });
  };
  await waitForCount(page, '43 books');
  await goTo('/zz', 43, 'Vanity Fair');
  await goTo('#10', 22, 'Emma');
  await search.fill('#99');
  await page.getByText('There is no such place in the list').waitFor();
  assert.equal(await search.getAttribute('aria-invalid'), 'true');
  await page.getByRole('columnheader', { name: 'Year' }).getByRole('button').click();
  await page.locator('[role=grid][aria-busy=false]').waitFor();
  await goTo('/1894', 30, 'Effi Briest');
  await page.getByRole('columnheader', { name: 'No.' }).getByRole('button').click();
  await page.locator('[role=grid][aria-busy=false]').waitFor();
  await search.fill('/m');
  // Without Enter, the list moves and the focus stays.
  await page.locator('[aria-rowindex="23"]').getByText('Madame Bovary').waitFor();
  assert.match(page.url(), /\?sort=title$/);
  assert.equal(await page.locator('.q:focus').count(), 1);
  await goTo('/MÁ', 22, 'Madame Bovary');
});

test('A new search cancels the previous one, whose late response is not shown', async (context) => {
  const page = await openConsole(context, '', { expectedMessages: /^$/ });
  if (!page) return;
  const { promise: isSuperseded, resolve: supersede } = Promise.withResolvers<void>();
  // Playwright does not report cancelled requests of Firefox that it has routed.
  await page.evaluate(`(() => {
    const { fetch } = window;
    window.fetch = (url, options) => {
      options.signal.addEventListener('abort', () => (window.cancelled ??= []).push(String(url)));
      return fetch(url, options);
    };
  })()`);
  await page.route('**/books?*q=homer*', async (route) => {
    await isSuperseded;
    await route.continue().catch(() => {});
  });
  const requested = page.waitForRequest('**/books?*q=homer*');
  await page.getByRole('searchbox').fill('homer');
  await requested;
  await page.getByRole('searchbox').fill('kafka');
  await waitForCount(page, '1 book');
  const isCancelled = `window.cancelled?.some((url) => url.includes('q=homer'))`;
  await assertEventually(() => page.evaluate(isCancelled), true);
  supersede();
  assert.deepEqual(await titlesOf(page), ['Die Verwandlung']);
});

test('An invalid year is marked, and does not change the view', async (context) => {
  const page = await openConsole(context);
  if (!page) return;
  const field = await yearField(page, 'To year');
  await field.fill('-');
  await assertEventually(() => field.getAttribute('aria-invalid'), 'true');
  await field.fill('-740');
  await waitForCount(page, '1 book');
  await assertEventually(() => field.getAttribute('aria-invalid'), 'false');
});

describe('Language and theme', () => {
  test('are those of the browser: German for de-AT', async (context) => {
    const page = await pages.open(context, `${service.url}/console/`, { locale: 'de-AT' });
    if (!page) return;
    await page.getByText('Melden Sie sich an').waitFor();
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    // The browser would keep texts that the page draws anew.
    assert.equal(await page.getAttribute('html', 'translate'), 'no');
    assert.equal(await page.title(), 'Katalog');
  });

  test('are English and light when the browser has no supported language', async (context) => {
    const page = await pages.open(context, `${service.url}/console/`, { locale: 'el-GR' });
    if (!page) return;
    await page.getByText('Sign in to search and edit').waitFor();
    assert.equal(await backgroundOf(page), LIGHT);
  });

  test('are dark when the system is, unless light is chosen', {
    skip: UNSUPPORTED.media,
  }, async (context) => {
    const page = await openConsole(context, '', { colorScheme: 'dark' });
    if (!page) return;
    assert.equal(await backgroundOf(page), DARK);
    await page.locator('.menu-button').click();
    await page.getByLabel('Theme').selectOption('light');
    await assertEventually(() => backgroundOf(page), LIGHT);
  });

  test('can be chosen, and are kept after a reload', async (context) => {
    const page = await openConsole(context);
    if (!page) return;
    assert.equal(await backgroundOf(page), LIGHT);
    await page.locator('.menu-button').click();
    await page.getByLabel('Language').selectOption('de');
    await page.getByLabel('Darstellung').selectOption('dark');
    await assertEventually(() => backgroundOf(page), DARK);
    await page.reload();
    await button(page, 'Buch hinzufügen').waitFor();
    assert.equal(await backgroundOf(page), DARK);
  });
});

const LIGHT = 'rgb(251, 249, 245)';
const DARK = 'rgb(22, 22, 20)';

function backgroundOf(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.body).backgroundColor');
}

async function assertNotTooWide(page: Page): Promise<void> {
  const [content, window] = (await page.evaluate(
    '[document.documentElement.scrollWidth, innerWidth]',
  )) as number[];
  assert.equal(content, window);
}
