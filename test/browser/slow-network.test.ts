import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UNSUPPORTED } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { startService } from '../../testkit/service.ts';
import { CLASSICS, findBook, manyBooks } from '../console/books.ts';
import {
  button,
  ConsolePages,
  chooseInMenu,
  deleteBook,
  doubleClick,
  download,
  failedRequests,
  laterCode,
  noDialog,
  rowOf,
  signIn,
  waitForCount,
} from './console-pages.ts';

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('The menu opens before the first books are there, also when they cannot be read yet', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(503) })) ?? {};
  if (!page || !service) return;
  const { promise: isClicked, resolve: respond } = Promise.withResolvers<void>();
  await page.route('**/books?*', async (route) => {
    await isClicked;
    await route.fulfill({
      status: 503,
      headers: { 'Error-Detail': 'The search is being prepared (34 %)', 'Retry-After': '60' },
      json: { status: 503, message: 'Service unavailable', data: null },
    });
  });
  await page.goto(`${service.url}/console/?sort=title`);
  await button(page, 'More').click();
  await page.locator('#menu').getByText('Export').waitFor();
  await page.keyboard.press('Escape');
  respond();
  await page.getByText('The search is being prepared (34 %).').waitFor();
  await chooseInMenu(page, 'Export');
  await page.getByRole('dialog').getByText('Export books').waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
  // Its code is loaded after the first response, also without a click.
  await page.reload();
  await page.locator('.menu-button[popovertarget]').waitFor();
});

test('What is typed before the code of the editor is loaded is not lost', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { books: CLASSICS.slice(0, 5) })) ?? {};
  if (!page || !service) return;
  const { promise: isTyped, resolve: load } = Promise.withResolvers<void>();
  await page.route('**/assets/later-*.js', async (route) => {
    await isTyped;
    await route.continue();
  });
  await page.reload();
  await page.locator('.new').waitFor();
  await rowOf(page, 'Meditations').locator('.year').click();
  await page.keyboard.type('18');
  await page.keyboard.press('Enter');
  await page.locator('[data-index="3"] .year:focus').waitFor();
  await doubleClick(rowOf(page, 'The Odyssey').locator('.year'));
  await page.keyboard.type('-700');
  await page.keyboard.press('Enter');
  await page.locator('[data-index="2"] .year:focus').waitFor();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('Night and Day');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Virg');
  load();
  await page.locator('.new [name=author]:focus').waitFor();
  await page.keyboard.type('inia Woolf');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await rowOf(page, 'Night and Day').locator('.id').getByText('6').waitFor();
  assert.deepEqual(await findBook(service, 6), {
    id: 6,
    title: 'Night and Day',
    author: 'Virginia Woolf',
    year: 0,
  });
  assert.equal((await findBook(service, 3))?.year, 18);
  assert.equal((await findBook(service, 2))?.year, -700);
});

test('A print before its code is loaded has the page as it is', {
  skip: UNSUPPORTED.media,
}, async (context) => {
  const { page } = (await pages.openConsole(context, {}, { books: CLASSICS.slice(0, 5) })) ?? {};
  if (!page) return;
  const { promise: isPrinted, resolve: load } = Promise.withResolvers<void>();
  const styles = page.waitForResponse('**/assets/later-*.css');
  await page.route('**/assets/later-*.js', async (route) => {
    await isPrinted;
    await route.continue();
  });
  await page.reload();
  await rowOf(page, 'Meditations').waitFor();
  await (await styles).finished();
  await page.emulateMedia({ media: 'print' });
  const hasLaterStyles = "[...document.styleSheets].some(({ href }) => href?.includes('/later-'))";
  await assertEventually(() => page.evaluate(hasLaterStyles), true);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  assert.match(await page.locator('body').innerText(), /Meditations/);
  // The browser prints, as it would without the page.
  const isTaken = await page.evaluate(
    "!dispatchEvent(new KeyboardEvent('keydown', { key: 'p', ctrlKey: true, cancelable: true }))",
  );
  assert.equal(isTaken, false);
  load();
});

test('A message is over the list, which it does not move, and “Saved” is there for a moment', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const height = () => page.evaluate('document.querySelector(".bottom").offsetHeight');
  const quiet = await height();
  assert.equal(await page.getByText('Saved', { exact: true }).count(), 0);
  // It may be gone before the message is seen.
  const isSaid = page.getByText('Saved', { exact: true }).waitFor();
  await deleteBook(page, 'Emma');
  assert.equal(await height(), quiet);
  await isSaid;
  await page.getByText('Saved', { exact: true }).waitFor({ state: 'detached' });
});

test('After a reload the list is where it was, and the title of the page names the search', async (context) => {
  const { page } = (await pages.openConsole(context, {}, { books: manyBooks(3_000) })) ?? {};
  if (!page) return;
  await page.getByRole('searchbox').fill('#2000');
  await rowOf(page, 'Volume 2000').waitFor();
  await page.getByText(/^rows (1,9|2,0)/).waitFor();
  await page.reload();
  await rowOf(page, 'Volume 2000').waitFor();
  await page.getByRole('searchbox').fill('volume 1');
  await waitForCount(page, '1,111 books');
  await assertEventually(() => page.title(), 'volume 1 – Catalogue');
  // Also when the code that is loaded later is there.
  await page.reload();
  await laterCode(page);
  await assertEventually(() => page.title(), 'volume 1 – Catalogue');
  await page.getByRole('searchbox').fill('');
  await waitForCount(page, '3,000 books');
  await assertEventually(() => page.title(), 'Catalogue');
});

test('After the sign-in to an empty store, and after an export, a button has the focus', async (context) => {
  const service = await startService();
  const page = await pages.open(context, `${service.url}/console/`, { service });
  if (!page) return;
  await signIn(page);
  await page.locator('.empty button:focus').getByText('Import a file').waitFor();
  // A search that the user clears keeps it.
  const search = page.getByRole('searchbox');
  await search.fill('Emma');
  await page.getByText('No books found.').waitFor();
  await search.fill('');
  await page.getByText('There are no books yet.').waitFor();
  await page.keyboard.type(' ');
  assert.equal(await search.inputValue(), ' ');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await service.fetch('POST', '/book', JSON.stringify({ title: 'Emma' }));
  await page.reload();
  await rowOf(page, 'Emma').waitFor();
  await chooseInMenu(page, 'Export');
  await download(page, button(page, 'Save'));
  await page.locator('dialog button:focus').getByText('Close').waitFor();
});
