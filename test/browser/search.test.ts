import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { UNSUPPORTED } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, manyBooks, store } from '../console/books.ts';
import {
  assertAccessible,
  ConsolePages,
  failedRequests,
  rowOf,
  titlesOf,
  waitForCount,
  yearField,
} from './console-pages.ts';

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, CLASSICS);
  await store(service, [
    ...manyBooks(1_000),
    { title: 'Nineteen Eighty-Four', author: 'Orwell', year: 1949 },
  ]);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

const openConsole = (context: TestContext, query: string, expectedMessages = /^$/) =>
  pages.openSignedIn(context, service, query, { expectedMessages });

test('A search shows how many of all books match, and marks what matches in any case and with any accents', async (context) => {
  const page = await openConsole(context, '?q=MISERABLES+hug');
  if (!page) return;
  await page.locator('.count').getByText('1 of 1,044 books', { exact: true }).waitFor();
  assert.deepEqual(await page.locator('[data-index] mark').allInnerTexts(), ['Misérables', 'Hug']);
  await page.getByRole('searchbox').fill('');
  await page.locator('.count').getByText('1,044 books', { exact: true }).waitFor();
  await assertEventually(() => page.locator('[data-index] mark').count(), 0);
});

describe('A search without matches', () => {
  test('names the words that no book has', async (context) => {
    const page = await openConsole(context, '?q=austen+xylophone+zeppelin');
    if (!page) return;
    await page.getByText('No book has a word that begins with “xylophone” or “zeppelin”.').waitFor();
    await page.getByText('Try fewer words or a wider range.').waitFor();
  });

  test('says that no book has all of the words', async (context) => {
    const page = await openConsole(context, '?q=austen+tolstoy');
    if (!page) return;
    await page.getByText('Each word is in some book, but no book has all of them.').waitFor();
  });

  test('offers the matches in other years', async (context) => {
    const page = await openConsole(context, '?q=tolstoy+war&from=1900&to=1950');
    if (!page) return;
    await page.getByText('1 book matches in other years.').waitFor();
    await page.getByRole('button', { name: 'Search all years' }).click();
    await waitForCount(page, '1 book');
    assert.deepEqual(await titlesOf(page), ['War and Peace']);
  });
});

test('While the years are open, the shortcuts work, and close them', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const years = page.locator('#filters:popover-open');
  for (const [key, shown] of [
    ['ControlOrMeta+K', page.locator('#search:focus')],
    ['ControlOrMeta+/', page.getByRole('dialog', { name: 'Shortcuts' })],
    ['Insert', page.getByRole('dialog', { name: 'Add a book' })],
  ] as const) {
    await (await yearField(page, 'From year')).focus();
    await page.keyboard.press(key);
    await shown.waitFor();
    assert.equal(await years.count(), 0);
    await page.keyboard.press('Escape');
  }
});

test('A wrong year says what is wrong', async (context) => {
  const page = await openConsole(context, '?q=austen');
  if (!page) return;
  const year = await yearField(page, 'To year');
  await year.fill('18xx');
  await page.getByText('A year is a whole number, such as 1851, -44 or 44 BC.').waitFor();
  assert.equal(await year.getAttribute('aria-invalid'), 'true');
  await year.fill('99999999999999999999');
  await page.getByText('This year has too many digits: it can have up to 15.').waitFor();
  await page.getByRole('textbox', { name: 'From year' }).fill('1815');
  await year.fill('1813');
  await page.getByText('The first year is after the last one.').waitFor();
  await year.fill('1815');
  await waitForCount(page, '1 book');
  await page.getByText('The first year is after the last one.').waitFor({ state: 'detached' });
});

test('A number finds the book with this number, and is shown without separators', async (context) => {
  const page = await openConsole(context, '?q=1044');
  if (!page) return;
  const book = page.getByRole('button', { name: 'No. 1044' });
  await book.getByText('Nineteen Eighty-Four').waitFor();
  assert.equal(await page.getByText('No books found.').count(), 0);
  await book.click();
  await page.getByRole('dialog').getByText('No. 1044').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox').fill('eighty');
  const id = page.locator('[data-index="0"]').getByRole('link', { name: 'No. 1044', exact: true });
  assert.equal(await id.innerText(), '1044');
});

test('A search of more than 32 words is not sent, and the field says why', async (context) => {
  const words = Array.from({ length: 33 }, (_, index) => `w${index}`).join('-');
  const page = await openConsole(context, `?q=${words}`);
  if (!page) return;
  const field = page.getByRole('searchbox');
  assert.equal(await field.inputValue(), '');
  const queries: string[] = [];
  page.on('request', (request) => queries.push(new URL(request.url()).searchParams.get('q') ?? ''));
  await field.fill('emma');
  await rowOf(page, 'Emma').waitFor();
  await field.fill(words);
  await page.getByRole('alert').getByText('A search can have up to 32 words. Leave some out.').waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await assertAccessible(page, 'too many words');
  await field.fill(words.slice(0, -4));
  await page.getByText('No books found.').waitFor();
  assert.deepEqual(
    queries.filter((q) => q.split('-').length > 32),
    [],
  );
});

test('While the service is away, the last books stay, in a lighter colour, until their search succeeds', async (context) => {
  const page = await openConsole(context, '?q=austen', failedRequests(503));
  if (!page) return;
  await rowOf(page, 'Emma').waitFor();
  await page.route('**/books?*', (route) =>
    route.fulfill({
      status: 503,
      // Until the user asks.
      headers: { 'Retry-After': '3600' },
      json: { status: 503, message: 'Service unavailable', data: null },
    }),
  );
  const colour = () => page.evaluate(`getComputedStyle(document.querySelector('[data-index="0"]')).color`);
  const colourBefore = await colour();
  await page.getByRole('searchbox').fill('tolstoy');
  await page.getByText('The service is not available at the moment.').waitFor();
  await assertEventually(async () => (await colour()) !== colourBefore, true);
  await page.unroute('**/books?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await rowOf(page, 'Anna Karenina').waitFor();
  await page.locator('.outdated').waitFor({ state: 'detached' });
});

test('While the search is being prepared, the page says how far it is, and then shows the matches by itself', async (context) => {
  const page = await openConsole(context, '?q=austen', failedRequests(503));
  if (!page) return;
  const firstSeen = Promise.withResolvers<void>();
  let percent = 34;
  await page.route('**/books?*', async (route) => {
    // The page says so after the first response already.
    if (percent !== 34) await firstSeen.promise;
    await route.fulfill({
      status: 503,
      headers: { 'Retry-After': '1', 'Error-Detail': `The search is being prepared (${percent} %)` },
      json: { status: 503, message: 'Service unavailable', data: null },
    });
    percent = 67;
  });
  await page.getByRole('searchbox').fill('the homer');
  const said = (share: number) =>
    page.getByRole('alert').getByText(`The search is being prepared (${share} %).`);
  await said(34).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  firstSeen.resolve();
  await said(67).waitFor();
  await page.unroute('**/books?*');
  await waitForCount(page, '2 books');
  assert.deepEqual(await titlesOf(page), ['The Iliad', 'The Odyssey']);
  await page.getByText('The search is being prepared').waitFor({ state: 'detached' });
});

test('An empty catalogue offers to import a file, and to add the first book', async (context) => {
  const empty = await startService();
  const page = await pages.openSignedIn(context, empty, '', { service: empty });
  if (!page) return;
  await page.getByText('There are no books yet.').waitFor();
  await page.locator('.drop-zone').getByText('Drop a CSV or JSON file here').waitFor();
  await assertAccessible(page, 'empty');
  await page.getByRole('button', { name: 'Import a file' }).click();
  await page.getByRole('dialog', { name: 'Import books' }).waitFor();
});

test('A print has the books of the search as a table, and none of the page', {
  skip: UNSUPPORTED.media,
}, async (context) => {
  const page = await openConsole(context, '?q=the+homer', /^$/);
  if (!page) return;
  await waitForCount(page, '2 books');
  await rowOf(page, 'The Odyssey').waitFor();
  await page.emulateMedia({ media: 'print' });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  assert.equal(
    await page.locator('body').innerText(),
    '“the homer” · 2 books\nNo.\tTitle\tAuthor\tYear\n1\tThe Iliad\tHomer\t750 BC\n2\tThe Odyssey\tHomer\t725 BC',
  );
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  assert.equal(await page.locator('.printed').count(), 0);
});
