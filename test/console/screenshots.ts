import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Service, startService } from '../http/service.ts';
import { ROOT } from '../project/files.ts';
import { PATIENCE_MS, startBrowser } from '../support/browser.ts';
import { CLASSICS, store } from './books.ts';
import { openBook, rowOf, signIn, waitForCount } from './console-pages.ts';

/**
 * Takes the screenshots in docs/console: `node test/console/screenshots.ts`. The fonts are those of the machine; install
 * Debian's `fonts-urw-base35` for P052, which resembles Palatino.
 */

const FOLDER = join(ROOT, 'docs/console');
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 360, height: 720 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

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
  readonly options?: BrowserContextOptions;
  readonly isEmpty?: boolean;
  readonly reach: (page: Page, service: Service) => Promise<void>;
}

const STATES: Readonly<Record<string, State>> = {
  'sign-in': {
    async reach(page) {
      await page.getByLabel('Username').fill('librarian');
    },
  },
  catalogue: { reach: openCatalogue },
  dark: {
    options: { ...DESKTOP, colorScheme: 'dark' },
    async reach(page) {
      await openCatalogue(page);
      await page.getByRole('button', { name: '1890s: 5 books' }).click();
      await page.mouse.move(0, 0);
      await waitForCount(page, '5 books');
      await rowOf(page, 'Dracula').locator('.title').focus();
      await page.keyboard.press('Delete');
      await page.getByText('is deleted.').waitFor();
      await page.keyboard.press('ArrowUp');
    },
  },
  phone: { options: PHONE, reach: openCatalogue },
  edit: {
    async reach(page) {
      await openCatalogue(page);
      await openBook(page, 'The Iliad');
      await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
      await page.mouse.move(0, 0);
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
      await page.mouse.move(0, 0);
    },
  },
  import: {
    async reach(page) {
      await openCatalogue(page);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
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
};

await mkdir(FOLDER, { recursive: true });
const browser = await startBrowser(PATIENCE_MS);
for (const [name, state] of Object.entries(STATES)) await take(browser, name, state);
await browser.close();

async function take(
  into: Browser,
  name: string,
  { options = DESKTOP, isEmpty, reach }: State,
): Promise<void> {
  await using service = await startService();
  if (!isEmpty) await store(service, CLASSICS);
  const context = await into.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(`${service.url}/console/`);
  await reach(page, service);
  await page.evaluate('document.fonts.ready');
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path });
  await context.close();
  console.log(`${name}.png: ${Math.ceil((await stat(path)).size / 1_000)} kB`);
}

/** Signs in, and waits for the list and the chart. */
async function openCatalogue(page: Page): Promise<void> {
  await signIn(page);
  await rowOf(page, 'Candide').waitFor();
  await page.locator('.bar').first().waitFor();
  await page.mouse.move(0, 0);
}
