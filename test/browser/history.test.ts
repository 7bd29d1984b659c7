import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { assertEventually } from '../../testkit/eventually.ts';
import type { Service } from '../../testkit/service.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';
import {
  assertAccessible,
  button,
  ConsolePages,
  chooseInMenu,
  failedRequests,
  field,
  noDialog,
  type PageOptions,
  rowOf,
  titlesOf,
  waitForCount,
} from './console-pages.ts';

const EMMA = 10;
const FIRST_STATE = { id: EMMA, title: 'Emma', author: 'Jane Austen', year: 1815 };

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

/** Opens the console of a new service with the classics. */
const openConsole = (
  context: TestContext,
  { query = '', hasHistory = true, ...options }: PageOptions & { query?: string; hasHistory?: boolean } = {},
) => pages.openConsole(context, { expectedMessages: failedRequests(404), ...options }, { query, hasHistory });

const put = (service: Service, id: number, fields: object) =>
  service.fetch('PUT', `/book/${id}`, JSON.stringify(fields));
const remove = (service: Service, ...ids: number[]) =>
  Promise.all(ids.map((id) => service.fetch('DELETE', `/book/${id}`)));

test('A user sees the states of a book beside what it is now, restores one, and undoes that', async (context) => {
  const { page, service } =
    (await openConsole(context, { query: `?book=${EMMA}`, timezoneId: 'Asia/Tokyo' })) ?? {};
  if (!page || !service) return;
  await put(service, EMMA, { year: 1816 });
  await put(service, EMMA, { title: 'Emma Woodhouse' });
  await button(page, 'History').click();
  await page.locator('h2:focus').getByText('History').waitFor();
  const changes = page.locator('.change');
  await changes.getByText('Title: Emma → Emma Woodhouse').waitFor();
  await changes.getByText('Year: 1815 → 1816').waitFor();
  const lines = await changes.locator('p:first-child').allInnerTexts();
  assert.deepEqual(
    lines.map((line) => line.replace(/ [0-9:]+$/, '')),
    ['Changed: “Emma Woodhouse”', 'Changed: “Emma”', 'Added: “Emma”'],
  );
  const time = changes.nth(2).locator('time');
  const tokyo = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Asia/Tokyo' });
  assert.equal(await time.innerText(), tokyo.format(new Date((await time.getAttribute('datetime')) ?? '')));
  await assertAccessible(page, 'the history of a book');
  await button(page, /^Restore the state of/)
    .last()
    .click();
  await page.getByText('Restored: “Emma”').waitFor();
  assert.deepEqual(await findBook(service, EMMA), FIRST_STATE);
  await button(page, /^Undo: Changed/).waitFor();
  await button(page, 'Back').click();
  await page.keyboard.press('Escape');
  await noDialog(page);
  await page.keyboard.press('ControlOrMeta+Z');
  await rowOf(page, 'Emma Woodhouse').waitFor();
  assert.equal((await findBook(service, EMMA))?.year, 1816);
});

test('A line of the history that may be of several users names their books, or opens before it can be undone', async (context) => {
  const { page, service } = (await openConsole(context)) ?? {};
  if (!page || !service) return;
  const patch = (changes: object[]) => service.fetch('PATCH', '/books', JSON.stringify(changes));
  await patch([1, 2, 3, 4].map((id) => ({ id, author: 'N. N.' })));
  await page.waitForTimeout(200);
  await patch([5, 6].map((id) => ({ id, author: 'N. N.' })));
  await page.reload();
  await chooseInMenu(page, 'History');
  await page.getByRole('dialog').getByRole('heading', { name: 'today' }).waitFor();
  const lines = page.locator('.history .day > li');
  await lines.first().getByText("Changed: “Candide” and “Gulliver's Travels”").waitFor();
  const undo = lines.nth(1).getByRole('button', { name: 'Undo: Changed: 4 books' });
  await undo.click();
  await lines.nth(1).getByText('“The Odyssey”').waitFor();
  assert.equal((await findBook(service, 2))?.author, 'N. N.');
  await undo.click();
  await page.locator('.history .day > li').first().getByText('Changed: ').waitFor();
  await assertEventually(async () => (await findBook(service, 2))?.author, 'Homer');
});

test('The keyboard continues in the history of a book when a restored state leaves its first hundred lines', async (context) => {
  const { page, service } = (await openConsole(context, { query: `?book=${EMMA}` })) ?? {};
  if (!page || !service) return;
  for (let year = 1; year <= 100; year++) await put(service, EMMA, { year });
  await button(page, 'History').click();
  const changes = page.locator('.change');
  await changes.nth(99).getByText('Year: 1815 → 1').waitFor();
  await changes.nth(99).getByRole('button').press('Enter');
  await changes.first().getByText('Year: 100 → 1').waitFor();
  await page.locator('dialog :is(button, summary):focus').waitFor();
});

test('A user finds what others have deleted, one line for all at once, and undoes it for one book or all', async (context) => {
  const { page, service } = (await openConsole(context)) ?? {};
  if (!page || !service) return;
  const deletions = [EMMA, 1, 2, 3].map((id) => ({ id, deleted: true }));
  await service.fetch('PATCH', '/books', JSON.stringify(deletions));
  await waitForCount(page, '39 books');
  await page.reload();
  await chooseInMenu(page, 'History');
  const line = page.getByText('Deleted: 4 books');
  await line.click();
  await assertAccessible(page, 'the history');
  await button(page, 'Undo: Deleted: “Emma”').click();
  await page.getByText('Restored: “Emma”').waitFor();
  assert.deepEqual(await findBook(service, EMMA), FIRST_STATE);
  await button(page, 'Undo: Deleted: “Emma”').waitFor({ state: 'detached' });
  // The keyboard continues where the button was.
  await page.locator('dialog :is(button, summary):focus').waitFor();
  await button(page, 'Undo: Deleted: 4 books').click();
  await page.getByText('Restored: 3 books').waitFor();
  await button(page, 'Undo: Deleted: 4 books').waitFor({ state: 'detached' });
  await button(page, 'Close').click();
  await waitForCount(page, '43 books');
});

test('A user sees what others change, and keeps the place and the focus', async (context) => {
  const { page, service } = (await openConsole(context)) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'The Iliad').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=row] :focus').waitFor();
  const settle = () =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  for (const key of ['PageDown', 'PageDown']) {
    await page.keyboard.press(key);
    await settle();
  }
  const focused = () =>
    page.evaluate<[string | undefined, number]>(
      `(({ innerText } = {}, { top }) => [innerText, Math.round(top)])(
        document.activeElement.closest('[role=row]')?.querySelector('.title'),
        document.activeElement.getBoundingClientRect(),
      )`,
    );
  const place = await focused();
  await remove(service, 1, 2);
  await waitForCount(page, '41 books');
  await assertEventually(focused, place);
  await put(service, 1 + CLASSICS.findIndex(({ title }) => title === place[0]), { title: 'Cranford' });
  await rowOf(page, 'Cranford').waitFor();
  await service.fetch('POST', '/book', JSON.stringify({ title: 'Orlando', year: 1928 }));
  await waitForCount(page, '42 books');
  await page.keyboard.press('Control+End');
  await rowOf(page, 'Orlando').waitFor();
});

describe('A user', () => {
  test('is told how many new books there are where they would move the list', async (context) => {
    const { page, service } = (await openConsole(context, { query: '?q=austen&sort=-id' })) ?? {};
    if (!page || !service) return;
    await waitForCount(page, '4 books');
    await service.fetch('POST', '/book', JSON.stringify({ title: 'Orlando', author: 'Virginia Woolf' }));
    await service.fetch('POST', '/book', JSON.stringify({ title: 'Lady Susan', author: 'Jane Austen' }));
    await button(page, 'Show 1 new book').waitFor();
    assert.equal((await titlesOf(page)).length, 4);
    await button(page, 'Show 1 new book').click();
    await waitForCount(page, '5 books');
    assert.equal((await titlesOf(page))[0], 'Lady Susan');
    await button(page, 'Show 1 new book').waitFor({ state: 'detached' });
  });

  test('who edits a book sees what another one changes in it, and that it was deleted', async (context) => {
    const { page, service } = (await openConsole(context, { query: `?book=${EMMA}` })) ?? {};
    if (!page || !service) return;
    await field(page, 'Title').fill('Emma, or');
    await put(service, EMMA, { year: 1816 });
    await page.getByText('Another user has just changed this book').waitFor();
    assert.equal(await field(page, 'Year').inputValue(), '1816');
    assert.equal(await field(page, 'Title').inputValue(), 'Emma, or');
    await put(service, EMMA, { title: 'EMMA' });
    await page.getByText('Another user has just changed the same field').waitFor();
    assert.equal(await field(page, 'Title').inputValue(), 'Emma, or');
    await remove(service, EMMA);
    await page.getByText('The book has been deleted in the meantime').waitFor();
    await button(page, 'History').click();
    await button(page, /^Restore the state of/)
      .first()
      .click();
    await page.getByText('Restored: “EMMA”').waitFor();
    await rowOf(page, 'EMMA').waitFor();
  });

  test('who returns to a page sees what has changed, also after more than it reads', async (context) => {
    const { page, service } = (await openConsole(context)) ?? {};
    if (!page || !service) return;
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`,
      );
    await hide(true);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await put(service, EMMA, { title: 'EMMA' });
    for (const year of [1, 2])
      await store(
        service,
        Array.from({ length: 600 }, () => ({ title: '', author: 'A', year })),
      );
    assert.deepEqual(requests, []);
    await hide(false);
    await rowOf(page, 'EMMA').waitFor();
    await waitForCount(page, '1,243 books');
  });

  test('of a service without a history sees none of it', async (context) => {
    const { page } =
      (await openConsole(context, {
        hasHistory: false,
        expectedMessages: failedRequests(),
        query: `?book=${EMMA}`,
      })) ?? {};
    if (!page) return;
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.reload();
    await field(page, 'Title').waitFor();
    const isRead = `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('features.json'))`;
    await assertEventually(() => page.evaluate<boolean>(isRead), true);
    assert.equal(await page.getByText('History', { exact: true }).count(), 0);
    assert.deepEqual(
      requests.filter((url) => /changes|history|deleted|follow/.test(url)),
      [],
    );
  });
});
