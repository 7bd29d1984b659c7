import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';
import {
  assertAccessible,
  button,
  ConsolePages,
  chooseInMenu,
  deleteBook,
  failedRequests,
  laterCode,
  openBook,
  rowOf,
  SIZES,
  signIn,
  titlesOf,
  waitForCount,
  waitForIndex,
} from './console-pages.ts';

let pages: ConsolePages;
let service: Service;
before(async () => {
  [pages, service] = await Promise.all([ConsolePages.start(), startService()]);
  await store(service, CLASSICS.slice(7, 18));
  await waitForIndex(service);
});
after(() => Promise.all([pages[Symbol.asyncDispose](), service[Symbol.asyncDispose]()]));

type Scheme = 'light' | 'dark';

const TREES = join(import.meta.dirname, 'trees');
/** The states that have all colours, which are checked in dark, too. */
const DARK_STATES = new Set([
  'sign-in rejected',
  'catalogue',
  'filtered',
  'selection',
  'load error',
  'edit',
  'import preview',
]);
const TREE_STATES = new Set(['catalogue', 'edit', 'import preview']);

/**
 * Asserts that a state of the page, in these colour schemes, is accessible for axe and for the checks below that axe lacks.
 * What assistive technologies get of the main states is compared with a file in `trees`; after an intended change,
 * `--test-update-snapshots` writes it anew.
 */
async function check(
  context: TestContext,
  page: Page,
  state: string,
  schemes: readonly Scheme[] = DARK_STATES.has(state) ? ['light', 'dark'] : ['light'],
): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === schemes[0] ? undefined : ['color-contrast'];
    await assertAccessible(page, `${state}, ${colorScheme}`, rules);
    await assertContrasts(page, `${state}, ${colorScheme}`);
  }
  await assertTargetSizes(page, state);
  if (!TREE_STATES.has(state) || page.viewportSize()?.width !== SIZES['a desktop'].viewport.width) return;
  const dialogs = page.locator('dialog[open]');
  const tree = await ((await dialogs.count()) > 0 ? dialogs.last() : page.locator('body')).ariaSnapshot();
  context.assert.fileSnapshot(`${tree}\n`, join(TREES, `${state.replaceAll(' ', '-')}.yaml`), {
    serializers: [String],
  });
}

test('Each state of the page is accessible', async (context) => {
  const expectedMessages = failedRequests(401, 404, 412, 500);
  const page = await pages.open(context, `${service.url}/console/`, { expectedMessages });
  if (!page) return;
  await page.getByLabel('Username').waitFor();
  await check(context, page, 'sign-in');
  await signIn(page, 'another password');
  await page.getByText('Wrong username or password.').waitFor();
  await check(context, page, 'sign-in rejected');
  await signIn(page);
  await rowOf(page, 'Emma').waitFor();
  await laterCode(page);
  await check(context, page, 'catalogue');
  await button(page, 'Years').click();
  await page.getByLabel('From year').waitFor();
  await check(context, page, 'years');
  await page.locator('.menu-button').click();
  await check(context, page, 'menu');
  await button(page, 'Show the chart').click();
  await page.locator('.bar').nth(2).click();
  await page.locator('.filtered').waitFor();
  await check(context, page, 'filtered');
  await page.getByRole('searchbox').fill('xylophone');
  await page.getByText('No books found.').waitFor();
  await check(context, page, 'nothing found');
  await page.getByRole('button', { name: 'Show all books' }).click();

  await chooseInMenu(page, 'Hide the chart');
  await deleteBook(page, 'Emma');
  await check(context, page, 'deleted');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '11 books');
  await rowOf(page, 'Emma').getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Set author' }).waitFor();
  await check(context, page, 'selection');
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await rowOf(page, 'Emma').locator('.author').focus();
  await page.keyboard.press('F2');
  await page.locator('.cell-editor').waitFor();
  await check(context, page, 'edited cell');
  await page.keyboard.press('Escape');

  await page.route('**/books?*', (route) =>
    route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } }),
  );
  await page.getByRole('searchbox').fill('a');
  await page.getByText('An error occurred in the service.').waitFor();
  await check(context, page, 'load error');
  await page.unroute('**/books?*');
  await page.getByRole('searchbox').fill('');
  await waitForCount(page, '11 books');
  await titlesOf(page);

  const id = await rowOf(page, 'Emma').locator('.id').textContent();
  await openBook(page, 'Emma');
  const year = page.getByRole('dialog').getByRole('textbox', { name: 'Year' });
  await year.fill('none');
  await check(context, page, 'edit');
  await year.fill('1700');
  await service.fetch('PUT', `/book/${id}`, JSON.stringify({ author: 'J. A.', year: 1600 }));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Conflicting changes').waitFor();
  await check(context, page, 'conflict');
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('searchbox').fill('#99');
  await page.getByText('There is no such place').waitFor();
  await check(context, page, 'no such place');
  await page.getByRole('searchbox').fill('');

  await page.keyboard.press('Control+/');
  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
  await check(context, page, 'shortcuts');
  await page.keyboard.press('Escape');

  await chooseInMenu(page, 'Import');
  const file = page.getByRole('dialog').locator('input[type=file]');
  await page.getByRole('button', { name: 'Choose a file' }).waitFor();
  await check(context, page, 'import');
  const buffer = Buffer.from('title,author,year\nWoyzeck,Georg Büchner,1879\nBelinda,Maria Edgeworth,soon\n');
  await file.setInputFiles({ name: 'books.csv', mimeType: 'text/csv', buffer });
  await page.getByText('1 row is invalid').waitFor();
  await page.getByText('Show the invalid rows').click();
  await button(page, 'Import 1 book').and(page.locator('[aria-disabled=false]')).waitFor();
  await check(context, page, 'import preview');
  await page.keyboard.press('Escape');
  await chooseInMenu(page, 'Export');
  await page.getByRole('dialog').getByText('JSON').waitFor();
  await check(context, page, 'export');

  await page.goto(`${service.url}/console/?book=4000`);
  await page.getByText('There is no book with this number.').waitFor();
  await check(context, page, 'book not found');
  await page.route(/[/]books[?]|[/]token[/]renewal$/, (route) =>
    route.fulfill({ status: 401, json: { status: 401, message: 'Invalid token', data: null } }),
  );
  await page.goto(`${service.url}/console/?sort=title`);
  await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
  await check(context, page, 'sign in again');
});

test('What looks different on a phone is accessible', async (context) => {
  const page = await pages.openSignedIn(context, service, '', SIZES['a phone']);
  if (!page) return;
  await rowOf(page, 'Emma').waitFor();
  await button(page, 'Filter').click();
  await page.getByLabel('Sort by').waitFor();
  await check(context, page, 'filter on a phone', ['light']);
  await page.keyboard.press('Escape');
  await rowOf(page, 'Emma').getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Set author' }).waitFor();
  await check(context, page, 'selection on a phone', ['light']);
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await page.locator('.menu-button').click();
  await check(context, page, 'menu on a phone', ['dark']);
  await page.keyboard.press('Escape');
  await rowOf(page, 'Emma').locator('.year').click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
  await check(context, page, 'edit on a phone', ['light']);
});

test('The focus is never hidden, and the controls that are always in view do not scroll the page', async (context) => {
  const open = () => pages.openSignedIn(context, service, '', { viewport: { width: 800, height: 450 } });
  // Each in a page of its own, as Firefox does not return the focus that has left the page.
  for (const key of ['Tab', 'Shift+Tab']) {
    const page = await open();
    if (!page) return;
    await rowOf(page, 'Emma').waitFor();
    await page.evaluate('scrollTo(0, 150)');
    let stops = 0;
    for (; (await press(page, key)) !== 'BODY'; stops++);
    assert.ok(stops > 10, `${stops} stops with ${key}`);
  }
  const page = await open();
  if (!page) return;
  await rowOf(page, 'Emma').locator('.title').focus();
  for (const key of [...Array<string>(11).fill('ArrowDown'), 'Home', 'End', 'PageUp']) await press(page, key);
});

/** Presses a key. @returns the name of the focused element, which is in view. */
async function press(page: Page, key: string): Promise<string> {
  await page.keyboard.press(key);
  const { name, hidden, scrolled } = (await page.evaluate(`new Promise((resolve) => {
    const before = scrollY;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const focused = document.activeElement;
      const { left, top, width, height } = focused.getBoundingClientRect();
      const shown = document.elementFromPoint(left + width / 2, top + height / 2);
      const isShown = focused === document.body || focused.contains(shown) || shown?.contains(focused);
      resolve({
        name: focused.tagName,
        hidden: isShown ? '' : focused.outerHTML,
        scrolled: focused.closest('.head, .top, .bottom') && scrollY !== before ? focused.outerHTML : '',
      });
    }));
  })`)) as { name: string; hidden: string; scrolled: string };
  assert.deepEqual([hidden, scrolled], ['', ''], key);
  return name;
}

/**
 * Asserts that each target of a pointer has at least 24 × 24 px (WCAG 2.2, criterion 2.5.8), where axe accepts gaps instead; of a
 * finger 44 × 44 px (criterion 2.5.5).
 */
async function assertTargetSizes(page: Page, state: string): Promise<void> {
  const small =
    await page.evaluate(`[...document.querySelectorAll('a, button, input, select, textarea, summary')]
    .filter((element) => element.checkVisibility() && !element.closest('.visually-hidden'))
    .map((element) => element.closest('label, .cell.select') ?? element)
    .filter((target) => Math.min(target.offsetWidth, target.offsetHeight) < (matchMedia('(pointer: coarse)').matches ? 44 : 24))
    .map((target) => target.outerHTML)`);
  assert.deepEqual(small, [], state);
}

/** Asserts a contrast of at least 3:1 of bars, fields and buttons with an outline (WCAG 2.2, criterion 1.4.11): axe does not check it. */
async function assertContrasts(page: Page, state: string): Promise<void> {
  const faint = await page.evaluate(`(() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const luminanceOf = (...colors) => {
      for (const color of colors) {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
      }
      const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) =>
        value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const backgroundOf = (element) => {
      const { backgroundColor } = getComputedStyle(element);
      return backgroundColor === 'rgba(0, 0, 0, 0)' && element.parentElement
        ? backgroundOf(element.parentElement)
        : backgroundColor;
    };
    return [...document.querySelectorAll('.bar .column, .button:not(.ghost), .field input, textarea, dialog select')]
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const around = backgroundOf(element.parentElement);
        const { backgroundColor, borderTopColor } = getComputedStyle(element);
        const contrasts = [backgroundColor, borderTopColor].map((color) => {
          const [one, other] = [luminanceOf(around, color), luminanceOf(around)];
          return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        });
        return [element.outerHTML.slice(0, 100), Math.max(...contrasts)];
      })
      .filter(([, contrast]) => contrast < 3);
  })()`);
  assert.deepEqual(faint, [], state);
}
