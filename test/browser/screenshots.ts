import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { type Service, startService } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';
import { ROOT } from '../project/files.ts';
import { chooseInMenu, laterCode, openBook, rowOf, signIn } from './console-pages.ts';

/**
 * Takes the screenshots that documents show: `node test/browser/screenshots.ts [NAME …]`. The font is that of the machine.
 */

const FOLDER = join(ROOT, 'docs/console');

const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 768 } };
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};
const DARK: BrowserContextOptions = { colorScheme: 'dark' };

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
interface Screen {
  readonly path?: string;
  readonly options?: BrowserContextOptions;
  readonly hasHistory?: boolean;
  readonly reach: (page: Page, service: Service) => Promise<void>;
}

const SCREENS: Readonly<Record<string, Screen>> = {
  catalogue: { reach: openCatalogue },
  'catalogue-phone': { options: PHONE, reach: openCatalogue },
  'edit-phone-dark': {
    options: { ...PHONE, ...DARK },
    async reach(page) {
      await openCatalogue(page);
      await openBook(page, 'The Iliad');
      await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
    },
  },
  'search-dark': {
    path: 'console/?q=the',
    options: DARK,
    async reach(page) {
      await signIn(page);
      await rowOf(page, 'The Iliad').waitFor();
      await chooseInMenu(page, 'Show the chart');
      await page.locator('.bar').first().waitFor();
    },
  },
  selection: {
    path: 'console/?q=jane',
    async reach(page) {
      await signIn(page);
      for (const title of ['Emma', 'Persuasion']) await rowOf(page, title).getByRole('checkbox').click();
      await page.getByText('2 selected').last().waitFor();
    },
  },
  range: {
    async reach(page) {
      await openCatalogue(page);
      await rowOf(page, 'Pride and Prejudice').locator('.author').click();
      await rowOf(page, 'Persuasion')
        .locator('.year')
        .click({ modifiers: ['Shift'] });
      await page.getByRole('region', { name: 'Selection' }).waitFor();
    },
  },
  editing: {
    async reach(page) {
      await openCatalogue(page);
      await rowOf(page, 'Emma').locator('.year').click();
      await page.keyboard.type('um 1815');
      await page.keyboard.press('Enter');
      await page.getByText('A year is a whole number').waitFor();
    },
  },
  away: {
    async reach(page) {
      await openCatalogue(page);
      await laterCode(page);
      await page.route('**/*', (route) => route.abort('connectionrefused'));
      await rowOf(page, 'Emma').locator('.year').click();
      await page.keyboard.type('1816');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Control+End');
      for (const [title, year] of [
        ['Orlando', '1928'],
        ['Flush', '1933'],
      ] as const) {
        await page.locator('.new .title').click();
        for (const [text, key] of [
          [title, 'Enter'],
          ['Virginia Woolf', 'Enter'],
          [year, 'Enter'],
        ] as const) {
          await page.keyboard.type(text);
          await page.keyboard.press(key);
        }
      }
      await page.getByText('Not saved: no connection.').waitFor();
    },
  },
  print: {
    path: 'console/?q=jane',
    options: { viewport: { width: 720, height: 240 } },
    async reach(page) {
      await signIn(page);
      await rowOf(page, 'Emma').waitFor();
      await laterCode(page);
      await page.emulateMedia({ media: 'print' });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.locator('.printed').getByText('Emma').waitFor();
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
      const change = (changes: object[]) => service.fetch('PATCH', '/books', JSON.stringify(changes));
      await openCatalogue(page);
      await change([{ id: 14, author: 'Currer Bell' }]);
      await change([6, 24].map((id) => ({ id, deleted: true })));
      await change([8, 9, 10, 12].map((id) => ({ id, author: 'Miss Austen' })));
      await chooseInMenu(page, 'History');
      await page.getByText('Changed: 4 books').click();
      await page.getByText('Author: Jane Austen → Miss Austen').first().waitFor();
    },
  },
  import: {
    async reach(page) {
      await openCatalogue(page);
      await chooseInMenu(page, 'Import');
      const dialog = page.getByRole('dialog', { name: 'Import books' });
      await dialog
        .locator('input[type=file]')
        .setInputFiles({ name: 'Regal.csv', mimeType: 'text/csv', buffer: Buffer.from(SPREADSHEET) });
      await dialog.getByText('5 books can be imported.').waitFor();
    },
  },
  docs: {
    path: 'docs',
    async reach(page) {
      await page.locator('.opblock').first().waitFor();
    },
  },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SCREENS);
if (process.argv.length === 2) await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
await using browser = await TestBrowser.start();
for (const name of names) {
  const { [name]: screen } = SCREENS;
  if (!screen) throw new Error(`no screen ${name}: ${Object.keys(SCREENS).join(', ')}`);
  await take(name, screen);
}

async function take(name: string, screen: Screen): Promise<void> {
  const { path = 'console/', options, hasHistory = false, reach } = screen;
  await using service = await startService({ hasHistory });
  await store(service, CLASSICS);
  const window = await browser.newWindow({ locale: 'en-GB', ...DESKTOP, ...options });
  const page = await window.newPage();
  await page.goto(`${service.url}/${path}`);
  await reach(page, service);
  await page.mouse.move(0, 0);
  await page.evaluate('document.fonts.ready');
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file });
  await window.close();
  console.log(`${name}.png: ${Math.ceil((await stat(file)).size / 1_000)} kB`);
}

/** Signs in, and waits for the list. */
async function openCatalogue(page: Page): Promise<void> {
  await signIn(page);
  await rowOf(page, 'Candide').waitFor();
}
