import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertEventually } from '../../testkit/eventually.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { manyBooks, store } from '../console/books.ts';
import { ConsolePages, failedRequests, rowOf, waitForCount, yearField } from './console-pages.ts';

/** More than an element can be high for. */
const BOOKS = 210_000;

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, manyBooks(BOOKS));
  // Until the index is built.
  while ((await service.fetch('GET', '/books?sort=title&limit=1')).status === 503);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

const focused = (page: Page, title: string) =>
  page.locator('[role=row]:focus-within').getByText(title, { exact: true });

/** The value of an expression in the page, once it is true. */
async function waitUntil<Value>(page: Page, expression: string): Promise<Value> {
  for (;;) {
    const value = await page.evaluate<Value>(expression);
    if (value) return value;
    await page.waitForTimeout(10);
  }
}

/** The numbers of the visible books, from the head of the table on, once they are loaded: one after another, each in its row. */
async function visibleNumbers(page: Page): Promise<number[]> {
  const rows = await waitUntil<[number, string][]>(
    page,
    `(() => {
    const [upper, lower] = ['.head', '.bottom'].map((name) => document.querySelector(name).getBoundingClientRect());
    const visible = [...document.querySelectorAll('[data-index]:not(.new)')]
      .map((row) => ({ row, top: row.getBoundingClientRect().top, bottom: row.getBoundingClientRect().bottom }))
      .filter(({ top, bottom }) => top >= upper.bottom - 1 && bottom <= lower.top + 1)
      .sort((one, other) => one.top - other.top);
    if (visible.length < 5 || visible.some(({ row }) => row.matches('.loading'))) return undefined;
    // Until the next frame, there may be none where the list was scrolled to.
    if (visible[0].top - upper.bottom >= visible[0].row.offsetHeight) return undefined;
    return visible.map(({ row }) => [Number(row.getAttribute('aria-rowindex')), row.querySelector('.title').innerText]);
  })()`,
  );
  const numbers = rows.map(([index, title], place, all) => {
    assert.equal(title, `Volume ${index - 1}`);
    assert.equal(index, (all[0]?.[0] ?? 0) + place);
    return index - 1;
  });
  return numbers;
}

test('Among 210,000 books, the keyboard, the scroll bar and the wheel reach each row', async (context) => {
  const page = await pages.openSignedIn(context, service);
  if (!page) return;
  // The list is higher than an element can be.
  await page.evaluate("localStorage.setItem('density', 'comfortable')");
  await page.reload();
  await waitForCount(page, '210,000 books');
  let lists = 0;
  page.on('request', (request) => {
    if (request.url().includes('/books?')) lists++;
  });
  await page.locator('[data-index="0"] .title').focus();
  await page.keyboard.press('Control+End');
  await focused(page, 'New book').waitFor();
  await page.keyboard.press('ArrowUp');
  await focused(page, 'Volume 210000').waitFor();
  await assertEventually(async () => (await visibleNumbers(page)).at(-1), BOOKS);
  assert.ok(lists < 10, `${lists} requests for lists`);
  assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '210002');
  assert.ok((await page.getByRole('row').count()) < 100);
  await page.keyboard.press('PageUp');
  await page.keyboard.press('ArrowUp');
  await visibleNumbers(page);
  await page.keyboard.press('Control+Home');
  await focused(page, 'Volume 1').waitFor();
  // The focused row leaves the window.
  const scrolled = await page.evaluate<number>(`new Promise((done) => {
        const [before, steps] = [scrollY, Array(20)];
        const step = () => {
          scrollBy(0, 100);
          if (steps.pop() === undefined && steps.length > 0) requestAnimationFrame(step);
          else done(scrollY - before);
        };
        step();
      })`);
  assert.ok(scrolled > 1_900, `${scrolled} px`);

  for (const place of [0.5, 0.25, 1, 0.75, 0]) {
    await page.evaluate(`scrollTo(0, ${place} * (document.documentElement.scrollHeight - innerHeight))`);
    const middle = `Math.abs(document.querySelector('[data-index]:not(:focus-within)').dataset.index - ${place * BOOKS}) < ${BOOKS / 50}`;
    await waitUntil(page, middle);
    await visibleNumbers(page);
    if (place === 1) await assertEventually(async () => (await visibleNumbers(page)).at(-1), BOOKS);
  }
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
  await waitUntil(
    page,
    `document.querySelector('[data-index]:not(:focus-within)').dataset.index > ${BOOKS / 3}`,
  );
  const [first = 0] = await visibleNumbers(page);
  for (const direction of [1, -1, -1]) {
    for (let times = 0; times < 10; times++) {
      const top = await page.evaluate<number>('scrollY');
      await page.evaluate(`scrollBy(0, ${direction * 200})`);
      await waitUntil(page, `Math.abs(scrollY - ${top}) > 0`);
    }
    await visibleNumbers(page);
  }
  const height = await page.evaluate<number>(`document.querySelector('.row-measure').offsetHeight`);
  const [last = 0] = await visibleNumbers(page);
  assert.ok(Math.abs(first - 2_000 / height - last) <= 2, `${first} ${last}`);
  await rowOf(page, `Volume ${last + 3}`)
    .locator('.title')
    .focus();
  await page.keyboard.press('ArrowDown');
  await focused(page, `Volume ${last + 4}`).waitFor();
  await page.keyboard.press('ControlOrMeta+K');
  await page.keyboard.type('#123456');
  await page.keyboard.press('Enter');
  await focused(page, 'Volume 123456').waitFor();
  await assertEventually(async () => (await visibleNumbers(page))[0], 123_456);
  await page.evaluate('scrollTo(0, 4_000_000)');
  // Not with Tab, which leaves the page in Firefox.
  await page.keyboard.press('Shift+Tab');
  await page.locator('.head :focus').waitFor();
  await page.keyboard.press('Tab');
  await focused(page, 'Volume 123456').waitFor();
  await waitUntil(
    page,
    '((top) => top > 0 && top < innerHeight)(document.activeElement.getBoundingClientRect().top)',
  );
  await (await yearField(page, 'From year')).fill('1990');
  await waitForCount(page, '10,500 books');
});

test('Where books cannot be loaded, the lower edge says so, until they are', async (context) => {
  const page = await pages.openSignedIn(context, service, '', { expectedMessages: failedRequests() });
  if (!page) return;
  await waitForCount(page, '210,000 books');
  const problem = page.locator('.bottom').getByText('The books cannot be loaded now.');
  await page.route('**/books?*', (route) => route.abort('connectionrefused'));
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
  await problem.waitFor();
  // The explanation above the list is out of view.
  assert.ok(((await page.locator('.load-error').boundingBox())?.y ?? 0) < 0);
  await page.unroute('**/books?*');
  await problem.waitFor({ state: 'detached' });
  await visibleNumbers(page);
});

test('Ctrl + End before the books are counted goes on to the last one once they are', async (context) => {
  const page = await pages.openSignedIn(context, service);
  if (!page) return;
  const { promise: isReached, resolve: release } = Promise.withResolvers<void>();
  await page.route(
    (url) => url.searchParams.get('count') === 'true',
    async (route) => {
      await isReached;
      await route.continue();
    },
  );
  await page.reload();
  await rowOf(page, 'Volume 1').locator('.title').focus();
  await page.keyboard.press('Control+End');
  const row = () =>
    page.evaluate<number>("Number(document.activeElement.closest('[data-index]')?.dataset.index)");
  await assertEventually(async () => (await row()) > 100 && (await row()) < BOOKS - 1, true);
  release();
  await focused(page, 'New book').waitFor();
});
