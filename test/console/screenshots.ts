import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { ROOT } from '../project/files.ts';
import { CLASSICS, store } from './books.ts';
import { button, chooseInMenu, openBook, rowOf, signIn, waitForCount } from './console-pages.ts';

/**
 * Takes the screenshots in docs/console, each on a wide screen and on a phone, light and dark:
 * `node test/console/screenshots.ts [STATE …]`. The fonts are those of the machine; install Debian's `fonts-urw-base35`
 * for P052, which resembles Palatino.
 */

const FOLDER = join(ROOT, 'docs/console');

/** What is appended to the name of a state. */
const SETTINGS: Readonly<Record<string, BrowserContextOptions>> = {
  '': { viewport: { width: 1280, height: 768 } },
  '-dark': { viewport: { width: 1280, height: 768 }, colorScheme: 'dark' },
  '-phone': { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  '-phone-dark': {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    colorScheme: 'dark',
  },
};

const SPREADSHEET = `Titel;Autor;Jahr;Regal
Effi Briest;Theodor Fontane;1895;A1
Irrungen, Wirrungen;Theodor Fontane;1888;A1
Der Schimmelreiter;Theodor Storm;um 1888;A2
Immensee;Theodor Storm;1849;A2
Woyzeck;Georg Büchner
Die Judenbuche;Annette von Droste-Hülshoff;1842;B1
Kleider machen Leute;Gottfried Keller;1874;B1
`;

/** A state of the page, and how to reach it. */
interface State {
  readonly path?: string;
  readonly isEmpty?: boolean;
  readonly hasHistory?: boolean;
  readonly reach: (page: Page, service: Service) => Promise<void>;
}

const STATES: Readonly<Record<string, State>> = {
  'sign-in': {
    async reach(page) {
      await signIn(page, 'another password', 'librarian');
      await page.getByText('Wrong username or password.').waitFor();
    },
  },
  catalogue: { reach: openCatalogue },
  search: {
    path: 'console/?q=les+mis',
    async reach(page) {
      await signIn(page);
      await rowOf(page, 'Les Misérables').waitFor();
    },
  },
  'nothing-found': {
    path: 'console/?q=austen+xylophone&from=1800&to=1799',
    async reach(page) {
      await signIn(page);
      await page.getByText('No book has a word').waitFor();
    },
  },
  'go-to': {
    path: 'console/?sort=title',
    async reach(page, service) {
      await store(service, Array(50).fill(CLASSICS).flat());
      await signIn(page);
      await waitForCount(page, '2,193 books');
      await page.getByRole('searchbox').fill('/w');
      await page.locator('[data-index]').getByText('Walden', { exact: true }).first().waitFor();
    },
  },
  changes: {
    hasHistory: true,
    async reach(page) {
      await openCatalogue(page);
      await rowOf(page, 'Candide').locator('.author').focus();
      await page.keyboard.press('Delete');
      await page.getByText('Deleted: “Candide”').waitFor();
      await rowOf(page, 'Jane Eyre').locator('.year').focus();
      await page.keyboard.type('1816');
      await page.keyboard.press('Enter');
      await page.getByText('Changed: “Jane Eyre”').waitFor();
      await chooseInMenu(page, 'Changes of this session');
    },
  },
  chart: {
    async reach(page) {
      await openCatalogue(page);
      await chooseInMenu(page, 'Show the chart');
      await page.getByRole('button', { name: '1890s: 5 books' }).click();
      await waitForCount(page, '5 books');
    },
  },
  number: {
    path: 'console/?q=23',
    async reach(page) {
      await signIn(page);
      await page.getByRole('button', { name: 'No. 23' }).waitFor();
      await waitForCount(page, '0 books');
    },
  },
  unavailable: {
    async reach(page) {
      await openCatalogue(page);
      await page.route('**/books?*', (route) => route.abort());
      await page.getByRole('searchbox').fill('austen');
      await page.getByText('cannot be reached').waitFor();
    },
  },
  loading: {
    async reach(page) {
      await page.route('**/books?*', () => {});
      await signIn(page);
      await page.locator('.row.loading').first().waitFor();
    },
  },
  edit: {
    async reach(page) {
      await openCatalogue(page);
      await openBook(page, 'The Iliad');
      await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
    },
  },
  conflict: {
    async reach(page, service) {
      await openCatalogue(page);
      await openBook(page, 'Candide');
      await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).fill('Candide, ou l’Optimisme');
      await service.fetch(
        'PUT',
        '/book/6',
        JSON.stringify({ title: 'Candide, or The Optimist', author: 'François-Marie Arouet' }),
      );
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Conflicting changes').waitFor();
    },
  },
  history: {
    hasHistory: true,
    async reach(page, service) {
      await openCatalogue(page);
      for (const change of [{ title: 'Candide, ou l’Optimisme' }, { author: 'François-Marie Arouet' }])
        await service.fetch('PUT', '/book/6', JSON.stringify(change));
      await rowOf(page, 'Candide, ou l’Optimisme').getByText('François-Marie Arouet').waitFor();
      await openBook(page, 'Candide, ou l’Optimisme');
      await page.getByRole('button', { name: 'History' }).click();
      await page.getByText('Added').waitFor();
    },
  },
  import: {
    async reach(page) {
      await openCatalogue(page);
      if (await button(page, 'Import').isVisible()) await button(page, 'Import').click();
      else await chooseInMenu(page, 'Import');
      const dialog = page.getByRole('dialog', { name: 'Import books' });
      await dialog
        .locator('input[type=file]')
        .setInputFiles({ name: 'Regal.csv', mimeType: 'text/csv', buffer: Buffer.from(SPREADSHEET) });
      await dialog.getByText('5 books can be imported.').waitFor();
    },
  },
  empty: {
    isEmpty: true,
    async reach(page) {
      await signIn(page);
      await page.getByText('There are no books yet.').waitFor();
    },
  },
  docs: {
    path: 'docs',
    async reach(page) {
      await page.locator('.operation').first().waitFor();
    },
  },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(STATES);
if (process.argv.length === 2) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
await using browser = await TestBrowser.start();
for (const name of names) {
  const state = STATES[name];
  if (!state) throw new Error(`no state ${name}: ${Object.keys(STATES).join(', ')}`);
  for (const [suffix, options] of Object.entries(SETTINGS))
    await take(browser, name + suffix, options, state);
}

async function take(
  into: TestBrowser,
  name: string,
  options: BrowserContextOptions,
  state: State,
): Promise<void> {
  const { path = 'console/', isEmpty, hasHistory = false, reach } = state;
  await using service = await startService({ hasHistory });
  if (!isEmpty) await store(service, CLASSICS);
  const context = await into.newWindow({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(`${service.url}/${path}`);
  await reach(page, service);
  await page.mouse.move(0, 0);
  await page.evaluate('document.fonts.ready');
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file });
  await context.close();
  console.log(`${name}.png: ${Math.ceil((await stat(file)).size / 1_000)} kB`);
}

/** Signs in, and waits for the list. */
async function openCatalogue(page: Page): Promise<void> {
  await signIn(page);
  await rowOf(page, 'Candide').waitFor();
}
