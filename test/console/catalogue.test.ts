import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../http/service.ts';
import { CLASSICS, store } from './books.ts';
import { rowOf, SIZES, seeCount, signIn, titlesOf, type VisitorOptions, Visits } from './visits.ts';

/** Titles that a page may not take for anything else than text. */
const ODD = [
  {
    title: '<img src=x onerror="document.title=1">',
    author: '<script>document.title = 2</script>',
    year: 2001,
  },
  { title: 'كتاب الحيوان', author: 'الجاحظ', year: 860 },
  { title: 'W'.repeat(10_000), author: 'long '.repeat(2_000), year: 9007199254740991 },
  { title: '', author: '', year: 0 },
  { title: '  ', author: 'two  spaces', year: -9007199254740991 },
  { title: 'two\nlines', author: 'a\ttab', year: 2002 },
];

let visits: Visits;
let service: Service;
before(async () => {
  [visits, service] = await Promise.all([Visits.start(), startService()]);
  await store(service, CLASSICS);
});
after(() => Promise.all([visits[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

/** Comes to what an address shows. */
async function visit(
  context: TestContext,
  query = '',
  options: VisitorOptions = {},
): Promise<Page | undefined> {
  const page = await visits.open(context, `${service.url}/console/${query}`, options);
  if (!page) return undefined;
  await signIn(page);
  await page.locator('.count').getByText(/book/).waitFor();
  return page;
}

test('All books are shown also to whoever asks for them while what was just typed is still to be searched', async (context) => {
  const page = await visit(context, '?q=xylophone');
  if (!page) return;
  await page.getByText('No books found.').waitFor();
  await page.getByRole('searchbox').fill('zeppelin');
  await page.getByRole('button', { name: 'Show all books' }).click();
  await seeCount(page, '43 books');
  assert.equal(await page.getByRole('searchbox').inputValue(), '');
});

for (const [size, options] of Object.entries(SIZES)) {
  describe(`With ${size}`, () => {
    test('books are found as they are typed; the address has what is shown, and the back button leads back', async (context) => {
      const page = await visit(context, '', options);
      if (!page) return;
      await seeCount(page, '43 books');
      const search = page.getByRole('searchbox');
      await search.pressSequentially('tolst');
      await seeCount(page, '2 books');
      assert.deepEqual(await titlesOf(page), ['War and Peace', 'Anna Karenina']);
      assert.match(page.url(), /\?q=tolst$/);
      await page.getByLabel('From year').fill('1870');
      await seeCount(page, '1 book');
      assert.match(page.url(), /\?q=tolst&from=1870$/);
      await page.goBack();
      await seeCount(page, '43 books');
      assert.equal(await search.inputValue(), '');
      assert.equal(await page.getByLabel('From year').inputValue(), '');
      await page.goForward();
      await seeCount(page, '1 book');
      assert.equal(await search.inputValue(), 'tolst');
    });

    test('an address shows the same to whoever opens it', async (context) => {
      const page = await visit(context, '?q=austen&from=1812&to=1816&sort=-year', options);
      if (!page) return;
      await seeCount(page, '2 books');
      assert.deepEqual(await titlesOf(page), ['Emma', 'Pride and Prejudice']);
    });

    test('a bar of the chart shows the books of its decade, and all again', async (context) => {
      const page = await visit(context, '', options);
      if (!page) return;
      const bar = page.getByRole('button', { name: '1890s: 5 books' });
      await bar.click();
      await seeCount(page, '5 books');
      assert.match(page.url(), /\?from=1890&to=1899$/);
      assert.equal(await bar.getAttribute('aria-pressed'), 'true');
      await page.getByRole('button', { name: '1900s: 3 books' }).click({ modifiers: ['Shift'] });
      await seeCount(page, '8 books');
      await page.getByLabel('From year').fill('');
      await page.getByLabel('To year').fill('');
      await seeCount(page, '43 books');
      // What is older than there is room for shares a bar.
      const older = size === 'a phone' ? 'Up to 1819: 12 books' : 'Up to 1699: 3 books';
      await page.getByRole('button', { name: older }).click();
      await seeCount(page, older.replace(/.*: /, ''));
      assert.deepEqual((await titlesOf(page)).slice(0, 3), ['The Iliad', 'The Odyssey', 'Meditations']);
    });

    test('nothing found is said, with a way back', async (context) => {
      const page = await visit(context, '?q=xylophone', options);
      if (!page) return;
      await page.getByText('No books found.').waitFor();
      await page.getByRole('button', { name: 'Show all books' }).click();
      await seeCount(page, '43 books');
    });

    test('odd titles are text, and nothing is wider than the window', async (context) => {
      await using odd = await startService();
      await store(odd, ODD);
      const page = await visits.open(context, `${odd.url}/console/`, options);
      if (!page) return;
      await signIn(page);
      await seeCount(page, '6 books');
      const rows = page.locator('[data-index]');
      assert.equal(await rows.nth(0).locator('.title').textContent(), ODD[0]?.title);
      assert.equal(await rows.nth(0).locator('.author').textContent(), ODD[0]?.author);
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
      await rows.nth(2).click();
      await page.getByRole('dialog').waitFor();
      assert.equal(await page.getByRole('textbox', { name: 'Title' }).inputValue(), ODD[2]?.title);
      await assertNotTooWide(page);
      assert.equal(await page.title(), 'Catalogue');
      assert.equal(await page.locator('#app img, #app script').count(), 0);
    });
  });
}

test('Columns sort, up and down, and say so', async (context) => {
  const page = await visit(context);
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

test('On a phone the order is chosen from a list', async (context) => {
  const page = await visit(context, '', SIZES['a phone']);
  if (!page) return;
  await page.getByLabel('Sort by').selectOption('-title');
  await page.locator('[data-index="0"] .title').getByText('Wuthering Heights', { exact: true }).waitFor();
});

test('A search that another one has overtaken is cancelled, and its late answer is not shown', async (context) => {
  const page = await visit(context, '', { mayComplainOf: /^$/ });
  if (!page) return;
  const { promise: isOvertaken, resolve: overtake } = Promise.withResolvers<void>();
  const cancelled = page.waitForEvent('requestfailed', (request) => request.url().includes('q=homer'));
  await page.route('**/books?*q=homer*', async (route) => {
    await isOvertaken;
    await route.continue().catch(() => {});
  });
  await page.getByRole('searchbox').fill('homer');
  await page.waitForRequest('**/books?*q=homer*');
  await page.getByRole('searchbox').fill('kafka');
  await seeCount(page, '1 book');
  await cancelled;
  overtake();
  assert.deepEqual(await titlesOf(page), ['Die Verwandlung']);
});

test('A year that is none is marked, and changes nothing', async (context) => {
  const page = await visit(context);
  if (!page) return;
  const field = page.getByLabel('To year');
  await field.fill('-');
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await field.fill('-740');
  await seeCount(page, '1 book');
  assert.equal(await field.getAttribute('aria-invalid'), 'false');
});

describe('Language and brightness', () => {
  test('are those of the browser: German', async (context) => {
    const page = await visits.open(context, `${service.url}/console/`, { locale: 'de-AT' });
    if (!page) return;
    await page.getByText('Melden Sie sich an').waitFor();
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    assert.equal(await page.title(), 'Katalog');
  });

  test('are English and light for whom there is nothing else', async (context) => {
    const page = await visits.open(context, `${service.url}/console/`, { locale: 'fr-FR' });
    if (!page) return;
    await page.getByText('Sign in to search and edit').waitFor();
    assert.equal(await backgroundOf(page), 'rgb(251, 249, 245)');
  });

  test('can be chosen, and stay chosen', async (context) => {
    const page = await visits.open(context, `${service.url}/console/`, { colorScheme: 'dark' });
    if (!page) return;
    assert.equal(await backgroundOf(page), 'rgb(22, 22, 20)');
    await page.getByLabel('Language').selectOption('de');
    await page.getByLabel('Darstellung').selectOption('light');
    assert.equal(await backgroundOf(page), 'rgb(251, 249, 245)');
    await page.reload();
    await page.getByText('Melden Sie sich an').waitFor();
    assert.equal(await backgroundOf(page), 'rgb(251, 249, 245)');
  });
});

function backgroundOf(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.body).backgroundColor');
}

async function assertNotTooWide(page: Page): Promise<void> {
  const [content, window] = (await page.evaluate(
    '[document.documentElement.scrollWidth, innerWidth]',
  )) as number[];
  assert.equal(content, window);
}
