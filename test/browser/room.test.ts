import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertEventually } from '../../testkit/eventually.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';
import {
  button,
  ConsolePages,
  chooseInMenu,
  deleteBook,
  doubleClick,
  field,
  openBook,
  rowOf,
  waitForCount,
} from './console-pages.ts';

/** Sizes of windows in CSS pixels, and the rows that are fully visible in each before any scrolling. */
const SIZES = [
  { size: 'a desktop', width: 1280, height: 768, rows: 14 },
  { size: 'a phone in landscape', width: 740, height: 360, rows: 3 },
  { size: 'a desktop at 200 % zoom', width: 640, height: 384, rows: 3 },
  { size: 'a phone', width: 360, height: 740, rows: 8 },
] as const;

/** A title that no column shows whole. */
const LONG =
  'The Epic of Gilgamesh, who saw the Deep, the Foundation of the Country, in the Version of Sin-leqi-unninni';

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService({ hasHistory: true })]);
  await store(service, [...CLASSICS, { title: LONG, author: '', year: 0 }]);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

async function openCatalogue(context: TestContext, width: number, height: number): Promise<Page | undefined> {
  const page = await pages.openSignedIn(context, service, '', { viewport: { width, height }, follows: true });
  await page?.locator('[data-index="0"] input').waitFor();
  return page;
}

/** The number of rows between the head of the table and the bar at the lower edge. */
async function countVisibleRows(page: Page): Promise<number> {
  return (await page.evaluate(`(() => {
    const upper = Math.max(...['.top', '.head'].map((name) => document.querySelector(name).getBoundingClientRect().bottom));
    const lower = document.querySelector('.bottom').getBoundingClientRect().top;
    return [...document.querySelectorAll('[data-index]')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return top >= upper - 1 && bottom <= lower + 1;
    }).length;
  })()`)) as number;
}

async function heightOfRow(page: Page): Promise<number | undefined> {
  return (await rowOf(page, 'The Iliad').boundingBox())?.height;
}

for (const { size, width, height, rows } of SIZES) {
  test(`On ${size}, at least ${rows} rows are visible before any scrolling, also beside a toast, and all of a book; when comfortable, fewer are`, async (context) => {
    const page = await openCatalogue(context, width, height);
    if (!page) return;
    assert.equal(await page.evaluate('scrollY'), 0);
    // The rows get their places in the next frame.
    await assertEventually(async () => (await countVisibleRows(page)) >= rows, true);
    const visible = await countVisibleRows(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    const compact = (await heightOfRow(page)) ?? 0;
    await page.locator('.menu-button').click();
    await page.getByLabel('Density').selectOption('comfortable');
    await page.keyboard.press('Escape');
    await page.locator('html[data-density=comfortable]').waitFor();
    assert.ok(((await heightOfRow(page)) ?? compact) > compact);
    await assertEventually(async () => (await countVisibleRows(page)) < visible, true);
    const bar = page.locator('.bottom');
    const { height: heightOfBar } = (await bar.boundingBox()) ?? {};
    await deleteBook(page, 'The Odyssey');
    await assertEventually(async () => (await countVisibleRows(page)) >= rows, true);
    assert.equal((await bar.boundingBox())?.height, heightOfBar);
    await page.keyboard.press('ControlOrMeta+Z');
    await rowOf(page, 'The Odyssey').waitFor();
    await openBook(page, 'The Iliad');
    for (const control of [field(page, 'Year'), button(page, 'Save')]) {
      const box = await control.boundingBox();
      assert.ok(box && box.y >= 0 && box.y + box.height <= height);
    }
    await page.reload();
    await page.locator('html[data-density=comfortable]').waitFor();
  });
}

test('The bar at the top and the head of the table stay in view, and the search does not move the list', async (context) => {
  const page = await openCatalogue(context, 1280, 600);
  if (!page) return;
  await page.evaluate('scrollTo(0, 400)');
  const scrolled = await page.evaluate('scrollY');
  await page.keyboard.press('ControlOrMeta+K');
  await page.locator('.q:focus').waitFor();
  assert.equal(await page.evaluate('scrollY'), scrolled);
  const [bar, head] = [await page.locator('.top').boundingBox(), await page.locator('.head').boundingBox()];
  assert.deepEqual([bar?.y, bar?.height, head?.y], [0, 48, 48]);
});

test('A cut title has a tooltip, and its column is wider than that of the author', async (context) => {
  const page = await openCatalogue(context, 640, 384);
  if (!page) return;
  await rowOf(page, 'Die Leiden des jungen Werthers').locator('.title .text').hover();
  const [title, author] = await Promise.all(
    ['.title', '.author'].map((name) => page.locator(`.head ${name}`).boundingBox()),
  );
  assert.ok((title?.width ?? 0) > (author?.width ?? 0));
  const text = page.locator('[data-index="43"] .title .text');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Control+End');
  await text.hover();
  await assertEventually(() => text.getAttribute('title'), LONG);
});

test('The borders of the columns are moved with the mouse and the keyboard, stay after a reload, and a double click restores them', async (context) => {
  const page = await openCatalogue(context, 1280, 768);
  if (!page) return;
  const border = (column: string) =>
    page.getByRole('separator', { name: `Width of the column before “${column}”` });
  /** The widths of titles, authors and years, in pixels. */
  const widths = async () =>
    Promise.all(
      ['title', 'author', 'year'].map(async (name) =>
        Math.round((await page.locator(`.head .${name}`).boundingBox())?.width ?? 0),
      ),
    );
  const initial = await widths();
  const [title = 0, author = 0, year = 0] = initial;
  assert.ok(Math.abs(title / author - 34 / 26) < 0.02 && year < 100, String(initial));
  const { x = 0, y = 0 } = (await border('Year').boundingBox()) ?? {};
  await page.mouse.move(x + 6, y + 10);
  await page.mouse.down();
  await page.mouse.move(x - 94, y + 10, { steps: 3 });
  await page.mouse.up();
  await assertEventually(async () => ((await widths())[2] ?? 0) > year + 80, true);
  assert.equal((await widths())[0], title);
  await border('Author').focus();
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowLeft');
  assert.equal(await border('Author').getAttribute('aria-valuenow'), '31');
  const moved = await widths();
  assert.ok((moved[0] ?? 0) < title - 30, String(moved));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 1280);
  await page.reload();
  await border('Year').waitFor();
  await assertEventually(widths, moved);
  await doubleClick(border('Author'));
  await assertEventually(widths, initial);
  // Not smaller than the smallest one.
  await border('Year').focus();
  for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowRight');
  assert.equal(await border('Year').getAttribute('aria-valuenow'), '27');
  await page.keyboard.press('Enter');
  await assertEventually(widths, initial);
  // What is stored may be of another version, or of another page of the host.
  for (const stored of ['null', '{}', '[1,2]', '[1,2,"3"]', '[1,2,-3]', '[1,2,null]']) {
    await page.evaluate(`localStorage.setItem('column-shares', ${JSON.stringify(stored)})`);
    await page.reload();
    await border('Year').waitFor();
    assert.deepEqual(await widths(), initial, stored);
  }
});

test('The chart is a table with a row for each bar and one tab stop; books of unknown year have a bar of their own', async (context) => {
  const page = await openCatalogue(context, 1280, 768);
  if (!page) return;
  const chart = page.getByRole('table', { name: 'Books by decade' });
  await chooseInMenu(page, 'Show the chart');
  await chart.getByRole('row', { name: '1890s' }).getByRole('cell').waitFor();
  assert.equal(await chart.getByRole('rowheader').count(), await chart.getByRole('button').count());
  assert.equal(await chart.locator('[tabindex="0"]').count(), 1);
  await button(page, 'Years').focus();
  // Behind the commands of the bar.
  for (let stop = 0; stop < 3; stop++) await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await waitForCount(page, '1 book');
  assert.match(page.url(), /\?from=0&to=0$/);
  await rowOf(page, LONG).waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
  await assertEventually(focused, 'Year unknown: 1 book');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await assertEventually(focused, '1920s: 4 books');
  await page.getByRole('searchbox').fill('Homer');
  await chart.getByRole('button', { name: '750s BC: 1 book' }).waitFor();
  await page.locator('.menu-button').click();
  for (const [language, decade] of [
    ['de', '750er v. Chr.'],
    ['es', 'Década de 750 a. C.'],
    ['fr', 'Années 750 av. J.-C.'],
  ] as const) {
    await page.locator('#menu select').nth(1).selectOption(language);
    await page.getByRole('rowheader', { name: decade, exact: true }).waitFor();
  }
});
