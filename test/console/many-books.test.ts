import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Service, startService } from '../http/service.ts';
import { manyBooks, store } from './books.ts';
import { ConsolePages, rowOf, SIZES, signIn, waitForCount } from './console-pages.ts';

const BOOKS = 20_000;

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, manyBooks(BOOKS));
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

describe('Among 20,000 books', () => {
  for (const [size, options] of Object.entries(SIZES)) {
    test(`on ${size}, the page shows their number, Ctrl+End moves to the last one, and few rows are in the document`, async (context) => {
      const page = await pages.open(context, `${service.url}/console/`, options);
      if (!page) return;
      await signIn(page);
      await waitForCount(page, '20,000 books');
      let lists = 0;
      page.on('request', (request) => {
        if (request.url().includes('/books?')) lists++;
      });
      await page.locator('[data-index="0"] .title').focus();
      await page.keyboard.press('Control+End');
      await rowOf(page, 'Volume 20000').waitFor();
      // One request per bar of the chart.
      assert.ok(lists < 40, `${lists} requests for lists`);
      await page.locator('[role=row]:focus-within').getByText('Volume 20000').waitFor();
      assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '20001');
      assert.ok((await page.getByRole('row').count()) < 100);
      await page.keyboard.press('Control+Home');
      await page.locator('[role=row]:focus-within').getByText('Volume 1', { exact: true }).waitFor();
    });
  }

  test('scrolling loads the visible rows, and a search finds one book', async (context) => {
    const page = await pages.open(context, `${service.url}/console/`);
    if (!page) return;
    await signIn(page);
    await waitForCount(page, '20,000 books');
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    await page
      .locator('.row:not(.loading)', { hasText: /Volume 100[0-9]{2}/ })
      .first()
      .waitFor();
    await page.getByRole('searchbox').fill('volume 17777');
    await waitForCount(page, '1 book');
    await rowOf(page, 'Volume 17777').waitFor();
    await page.getByRole('searchbox').fill('');
    await waitForCount(page, '20,000 books');
    const bar = page.getByRole('button', { name: '1950s: 1,000 books' });
    await bar.click();
    await waitForCount(page, '1,000 books');
  });
});

describe('Among 300,500 books', () => {
  let larger: Service;
  before(async () => {
    larger = await startService();
    await store(larger, manyBooks(300_500));
  });
  after(() => larger[Symbol.asyncDispose]());

  test('the list shows the first and the last 150,000, and a note', async (context) => {
    const page = await pages.open(context, `${larger.url}/console/`);
    if (!page) return;
    await signIn(page);
    await waitForCount(page, '300,500 books');
    const both =
      'The list shows the first 150,000 and the last 150,000 of 300,500 books. Search to see others.';
    assert.deepEqual(await page.locator('.shown-part').allInnerTexts(), [both, both]);
    await page.locator('[data-index="0"] .title').focus();
    await page.keyboard.press('Control+End');
    await page.locator('[role=row]:focus-within').getByText('Volume 300500').waitFor();
    await page.getByRole('columnheader', { name: 'Year' }).getByRole('button').click();
    const first = 'The list shows the first 300,000 of 300,500 books. Search to see others.';
    await page.getByText(first).first().waitFor();
    await page.locator('[data-index="0"]').getByText('1800').waitFor();
  });
});
