import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../http/service.ts';
import { CLASSICS, store } from './books.ts';
import {
  assertAccessible,
  ConsolePages,
  failedRequests,
  openBook,
  rowOf,
  SIZES,
  signIn,
  waitForCount,
} from './console-pages.ts';

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, CLASSICS);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

/** One colour scheme for each viewport, as the content depends on the viewport only. */
const SETTINGS = {
  'a desktop, light': { ...SIZES['a desktop'], colorScheme: 'light' },
  'a phone, dark': { ...SIZES['a phone'], colorScheme: 'dark' },
} as const;

describe('axe finds no violation', () => {
  for (const [setting, options] of Object.entries(SETTINGS)) {
    test(`in any state of the page on ${setting}`, async (context) => {
      const expectedMessages = failedRequests(401, 404, 412, 500);
      const page = await pages.open(context, `${service.url}/console/`, { ...options, expectedMessages });
      if (!page) return;
      await assertAccessible(page, 'sign-in');
      await signIn(page, 'another password');
      await page.getByText('Wrong username or password.').waitFor();
      await assertAccessible(page, 'sign-in rejected');
      await signIn(page);
      await rowOf(page, 'Emma').waitFor();
      await page.locator('.bar').first().waitFor();
      await assertAccessible(page, 'catalogue');
      await assertBarContrast(page);

      await page.locator('.bar').nth(5).click();
      await page.locator('.filtered').waitFor();
      await assertAccessible(page, 'filtered');
      await assertBarContrast(page);
      await page.getByRole('searchbox').fill('xylophone');
      await page.getByText('No books found.').waitFor();
      await assertAccessible(page, 'nothing found');
      await page.getByRole('button', { name: 'Show all books' }).click();

      await openBook(page, 'Emma');
      const year = page.getByRole('dialog').getByRole('textbox', { name: 'Year' });
      await year.fill('none');
      await assertAccessible(page, 'edit');
      await year.fill(String(1700 + Math.floor(performance.now() % 100)));
      await service.fetch(
        'PUT',
        '/book/10',
        JSON.stringify({ author: `Jane ${setting}`, year: 1600 + setting.length }),
      );
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Conflicting changes').waitFor();
      await assertAccessible(page, 'conflict');
      await page.getByRole('button', { name: 'Take theirs' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
      await assertAccessible(page, 'shortcuts');
      await page.keyboard.press('Escape');

      await rowOf(page, 'Emma').locator('.title').focus();
      await page.keyboard.press('Delete');
      await page.getByText('“Emma” is deleted.').waitFor();
      await assertAccessible(page, 'deleted');
      await page.getByRole('button', { name: 'Undo' }).click();

      await page.route('**/books?*', (route) =>
        route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } }),
      );
      await page.getByRole('searchbox').fill('a');
      await page.getByText('An error occurred in the service.').waitFor();
      await assertAccessible(page, 'load error');
      await page.unroute('**/books?*');

      await page.goto(`${service.url}/console/?book=4000`);
      await page.getByText('There is no book with this number.').waitFor();
      await assertAccessible(page, 'book not found');
      await page.route('**/books?*', (route) =>
        route.fulfill({ status: 401, json: { status: 401, message: 'Invalid token', data: null } }),
      );
      await page.goto(`${service.url}/console/?sort=title`);
      await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
      await assertAccessible(page, 'sign in again');
    });
  }

  test('in an empty catalogue, in German', async (context) => {
    await using empty = await startService();
    const page = await pages.open(context, `${empty.url}/console/`, { locale: 'de-DE' });
    if (!page) return;
    await page.getByLabel('Language').or(page.getByLabel('Sprache')).selectOption('en');
    await signIn(page);
    await waitForCount(page, '0 books');
    await page.getByLabel('Language').selectOption('de');
    await page.getByText('Es gibt noch keine Bücher.').waitFor();
    await assertAccessible(page, 'empty');
  });
});

/** Asserts that each bar of the chart has a contrast of at least 3:1 (WCAG 2.2, criterion 1.4.11), which axe does not check. */
async function assertBarContrast(page: Page): Promise<void> {
  const contrasts = (await page.evaluate(`(() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const luminanceOf = (color) => {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) =>
        value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const paper = luminanceOf(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('.bar .column')].map((column) => {
      const bar = luminanceOf(getComputedStyle(column).backgroundColor);
      return (Math.max(bar, paper) + 0.05) / (Math.min(bar, paper) + 0.05);
    });
  })()`)) as number[];
  assert.ok(contrasts.length > 5 && Math.min(...contrasts) >= 3, `contrasts: ${contrasts.join(', ')}`);
}
