import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../http/service.ts';
import { CLASSICS, store } from './books.ts';
import { ConsolePages, rowOf, signIn, waitForCount } from './console-pages.ts';

/** Sizes of windows in CSS pixels, and the rows that are fully visible in each before any scrolling. */
const SIZES = [
  { size: 'a desktop', width: 1280, height: 768, rows: 12 },
  { size: 'a phone in landscape', width: 740, height: 360, rows: 3 },
  { size: 'a desktop at 200 % zoom', width: 640, height: 384, rows: 3 },
  { size: 'a phone', width: 360, height: 740, rows: 5 },
] as const;

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, [...CLASSICS, { title: 'The Epic of Gilgamesh', author: '', year: 0 }]);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

async function openCatalogue(context: TestContext, width: number, height: number): Promise<Page | undefined> {
  const page = await pages.open(context, `${service.url}/console/`, { viewport: { width, height } });
  if (!page) return undefined;
  await signIn(page);
  await rowOf(page, 'The Iliad').waitFor();
  return page;
}

/** The number of rows between the head of the table and the bar at the lower edge. */
async function countVisibleRows(page: Page): Promise<number> {
  return (await page.evaluate(`(() => {
    const upper = Math.max(0, document.querySelector('.head').getBoundingClientRect().bottom);
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

async function widthOf(page: Page, column: string): Promise<number> {
  return (await page.getByRole('columnheader', { name: column }).boundingBox())?.width ?? 0;
}

for (const { size, width, height, rows } of SIZES) {
  test(`On ${size}, at least ${rows} rows are visible before any scrolling, also beside a toast, and more when compact`, async (context) => {
    const page = await openCatalogue(context, width, height);
    if (!page) return;
    if (height > 600) await page.getByRole('table', { name: 'Books by decade' }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0);
    const visible = await countVisibleRows(page);
    assert.ok(visible >= rows, `${visible} rows`);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    const comfortable = (await heightOfRow(page)) ?? 0;
    await page.getByLabel('Density').selectOption('compact');
    await page.locator('html[data-density=compact]').waitFor();
    assert.ok(((await heightOfRow(page)) ?? comfortable) < comfortable);
    assert.ok((await countVisibleRows(page)) > visible);
    const bar = page.locator('.bottom');
    const { height: heightOfBar } = (await bar.boundingBox()) ?? {};
    await rowOf(page, 'The Odyssey').locator('.title').focus();
    await page.keyboard.press('Delete');
    await page.getByText('“The Odyssey” is deleted.').waitFor();
    assert.ok((await countVisibleRows(page)) >= rows);
    assert.equal((await bar.boundingBox())?.height, heightOfBar);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.reload();
    await rowOf(page, 'The Iliad').waitFor();
    assert.equal(await page.getByLabel('Density').inputValue(), 'compact');
  });
}

test('The chart is folded away in a low window; a button shows and hides it', async (context) => {
  const page = await openCatalogue(context, 740, 360);
  if (!page) return;
  const chart = page.getByRole('table', { name: 'Books by decade' });
  const toggle = page.getByRole('button', { name: 'Chart' });
  assert.equal(await toggle.getAttribute('aria-expanded'), 'false');
  assert.equal(await chart.count(), 0);
  await toggle.click();
  await chart.getByRole('button', { name: '1890s: 5 books' }).waitFor();
  assert.equal(await toggle.getAttribute('aria-expanded'), 'true');
  await page.reload();
  await chart.waitFor();
  await toggle.click();
  await chart.waitFor({ state: 'detached' });
});

test('The chart is a table with a row for each bar and one tab stop; books of unknown year have a bar of their own', async (context) => {
  const page = await openCatalogue(context, 1280, 768);
  if (!page) return;
  const chart = page.getByRole('table', { name: 'Books by decade' });
  await chart.getByRole('row', { name: '1890s' }).getByRole('cell').waitFor();
  assert.equal(await chart.getByRole('rowheader').count(), await chart.getByRole('button').count());
  assert.equal(await chart.locator('[tabindex="0"]').count(), 1);
  await page.getByRole('button', { name: 'Chart' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await waitForCount(page, '1 book');
  assert.match(page.url(), /\?from=0&to=0$/);
  await rowOf(page, 'The Epic of Gilgamesh').waitFor();
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    'Year unknown: 1 book',
  );
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), '1920s: 4 books');
  await page.getByRole('searchbox').fill('Homer');
  await chart.getByRole('button', { name: '750s BC: 1 book' }).waitFor();
  for (const [language, decade] of [
    ['de', '750er v. Chr.'],
    ['es', 'Década de 750 a. C.'],
    ['fr', 'Années 750 av. J.-C.'],
  ] as const) {
    await page.locator('.preferences select').first().selectOption(language);
    await page.getByRole('rowheader', { name: decade, exact: true }).waitFor();
  }
});

describe('The edge of a column', () => {
  test('is moved by the arrow keys and by the pointer, and its place is kept after a reload', async (context) => {
    const page = await openCatalogue(context, 1280, 768);
    if (!page) return;
    const edge = page.getByRole('separator', { name: 'Width of the column Author' });
    const first = await widthOf(page, 'Author');
    await edge.focus();
    for (let times = 0; times < 3; times++) await page.keyboard.press('ArrowRight');
    assert.equal(await widthOf(page, 'Author'), first - 48);
    const box = await edge.boundingBox();
    assert.ok(box && box.width >= 24 && box.height >= 24);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 60, y);
    await page.mouse.move(x - 100, y);
    await page.mouse.up();
    assert.equal(await widthOf(page, 'Author'), first - 48 + 100);
    await page.reload();
    await rowOf(page, 'The Iliad').waitFor();
    assert.equal(await widthOf(page, 'Author'), first - 48 + 100);
    await edge.dblclick();
    assert.equal(await widthOf(page, 'Author'), first);
  });

  test('leaves the rest of a wide window to the title, which is not cut', async (context) => {
    const page = await openCatalogue(context, 2560, 1200);
    if (!page) return;
    assert.ok((await widthOf(page, 'Title')) > 1_800);
    const cut = await page.evaluate(
      '[...document.querySelectorAll(".title .text")].filter((text) => text.scrollWidth > text.clientWidth).length',
    );
    assert.equal(cut, 0);
  });
});
