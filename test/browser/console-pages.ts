import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { BROWSER } from '../../testkit/browser-server.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { CLASSICS, store } from '../console/books.ts';

/** The viewports of the tests. */
export const SIZES = {
  'a desktop': { viewport: { width: 1280, height: 800 } },
  'a phone': { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
} as const satisfies Record<string, BrowserContextOptions>;

export interface PageOptions extends BrowserContextOptions {
  /** The messages in the console of the browser that the test causes, such as `Failed to load resource` for error responses. */
  readonly expectedMessages?: RegExp;
  /** Stops after the page, which may still send requests, also when the page has logged other messages. */
  readonly service?: AsyncDisposable;
  /** That of a user who has signed in already. */
  readonly token?: string;
  /** Whether to wait until the page follows the history, and has read its list again with that. */
  readonly follows?: boolean;
}

/** The pages of the tests of a file. */
export class ConsolePages implements AsyncDisposable {
  readonly #browser: TestBrowser;

  private constructor(browser: TestBrowser) {
    this.#browser = browser;
  }

  /** @param hasClipboard whether the tests use the clipboard, which is that of the browser */
  static async start({ hasClipboard = false } = {}): Promise<ConsolePages> {
    return new ConsolePages(await TestBrowser.start(hasClipboard));
  }

  /**
   * Opens a page in a browser context of its own, until the end of the test. It must not log messages that are not expected,
   * nor send requests to other hosts.
   *
   * @returns undefined when no browser starts: the test is skipped then, but fails in continuous integration
   */
  async open(context: TestContext, url: string, options: PageOptions = {}): Promise<Page | undefined> {
    const { expectedMessages = /^$/, service, token, follows, ...others } = options;
    const browserContext = await this.#browser.open(context, {
      ...SIZES['a desktop'],
      locale: 'en-GB',
      ...others,
    });
    if (service) context.after(() => service[Symbol.asyncDispose]());
    if (!browserContext) return undefined;
    if (token) await browserContext.addInitScript(keepToken(token));
    const messages: string[] = [];
    const page = await browserContext.newPage();
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(String(error)));
    page.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(url).host) messages.push(`requests ${request.url()}`);
    });
    context.after(() => {
      assert.deepEqual(
        messages.filter((message) => !expectedMessages.test(message) && !HARMLESS.test(message)),
        [],
      );
    });
    const followed = follows && page.waitForRequest(/[/]changes[?].*wait=/);
    await page.goto(url);
    await followed;
    if (follows) await assertEventually(() => page.evaluate<boolean>(HAS_READ_AGAIN), true);
    return page;
  }

  /** Opens the console of a service at a query for a user who is signed in, and waits for the number of books and {@link laterCode}. */
  async openSignedIn(
    context: TestContext,
    service: Service,
    query = '',
    options: PageOptions = {},
  ): Promise<Page | undefined> {
    const page = await this.open(context, `${service.url}/console/${query}`, {
      token: service.token,
      ...options,
    });
    await page?.locator('.count').getByText(/book/).waitFor();
    if (page) await laterCode(page);
    return page;
  }

  /** Opens the console of a new service with books, the classics by default, and waits until it follows a history. */
  async openConsole(
    context: TestContext,
    options: PageOptions = {},
    { books = CLASSICS, query = '', hasHistory = false } = {},
  ): Promise<{ page: Page; service: Service } | undefined> {
    const service = await startService({ hasHistory });
    await store(service, books);
    await waitForIndex(service);
    const page = await this.openSignedIn(context, service, query, {
      service,
      follows: hasHistory,
      ...options,
    });
    await page?.locator('[data-index="0"] input').waitFor();
    return page && { page, service };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser[Symbol.asyncDispose]();
  }
}

/** Waits until the service searches: a page that searches before logs a 503 on a busy machine, where the index takes longer. */
export async function waitForIndex(service: Service): Promise<void> {
  while ((await service.fetch('GET', '/books?q=a&limit=1')).status === 503);
}

/** A script that has a token in the storage of each page, as if its user had signed in. */
function keepToken(text: string): string {
  const token = JSON.stringify({ text, expiresAt: Date.now() + 10 * 60_000 });
  return `if (location.protocol === 'http:') sessionStorage.token ??= ${JSON.stringify(token)}`;
}

/** The messages of a browser for responses with these statuses, and for requests without a response. */
export function failedRequests(...statuses: number[]): RegExp {
  const reasons = statuses.map((status) => `status of ${status} `);
  return new RegExp(`^Failed to load resource: (.*(${[...reasons, 'net::ERR_'].join('|')}))`);
}

/** On a busy machine, the index may take longer after a write than a search waits for it; the console then repeats the search. */
export const SEARCHES_AFTER_WRITES = { expectedMessages: failedRequests(503) };

/**
 * Waits until the code is loaded that the first paint does not need, such as that of dialogs, of dropped files and of prints: the button
 * of the menu is there before.
 */
export const laterCode = (page: Page) => page.locator('#menu').waitFor({ state: 'attached' });

/** Submits the sign-in form. */
export async function signIn(page: Page, password = PASSWORD, username = USERNAME): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the page shows this number of books, such as `5 books`: of all or, when it shows `5 of 43 books`, of matches. */
export async function waitForCount(page: Page, count: string): Promise<void> {
  const pattern = new RegExp(`^${count.replace(/ books?$/, '( of [0-9,]+)? books?')}$`);
  await page.locator('.count').getByText(pattern).waitFor();
}

/** The titles in the list, from top to bottom, once it is loaded. */
export async function titlesOf(page: Page): Promise<string[]> {
  await page.locator('[role=grid][aria-busy=false]').waitFor();
  return page.locator('[data-index]:not(.new) .title').allInnerTexts();
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

/** A field of the open dialog. */
export const field = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('textbox', { name, exact: true }).or(combobox(page, name));

/** A field with suggestions. */
const combobox = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('combobox', { name, exact: true });

export const noDialog = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });

/** Chooses an entry of the menu at the top. */
export async function chooseInMenu(page: Page, name: string): Promise<void> {
  await laterCode(page);
  await page.locator('.menu-button').click();
  await page.locator('#menu').getByRole('button', { name, exact: true }).click();
}

/** The field of a bound of the years, once the button that has them is open. */
export async function yearField(page: Page, name: 'From year' | 'To year'): Promise<Locator> {
  const found = page.getByLabel(name);
  if (!(await found.isVisible())) await page.locator('[popovertarget=filters]').click();
  return found;
}

/** The row of a book that has the focus. */
export const focusedRow = (page: Page, title: string) =>
  page.locator('[role=row]:focus-within').getByText(title, { exact: true });

/** The row of a book, by its title. */
export function rowOf(page: Page, title: string) {
  return page.locator('[data-index]').filter({ has: page.getByText(title, { exact: true }) });
}

/** How often a double click clicks: Firefox takes the second click of Playwright for a single one. */
export const DOUBLE_CLICKS = BROWSER === 'firefox' ? 1 : 2;

export async function doubleClick(target: Locator): Promise<void> {
  await target.click({ clickCount: DOUBLE_CLICKS });
  if (BROWSER === 'firefox') await target.dispatchEvent('dblclick');
}

/** Pastes a text, without the clipboard, which pages of other tests have, too. */
export async function paste(page: Page, text: string): Promise<void> {
  // Firefox takes no data in the constructor.
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const event = new Event('paste', { bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(Object.assign(event, { clipboardData }));
  })()`);
}

/** Clicks a button that saves a file. */
export async function download(page: Page, saving: Locator): Promise<{ name: string; text: string }> {
  if (BROWSER === 'firefox') return downloadInFirefox(page, saving);
  const started = page.waitForEvent('download');
  await saving.click();
  const file = await started;
  const chunks: Buffer[] = await (await file.createReadStream()).toArray();
  return { name: file.suggestedFilename(), text: Buffer.concat(chunks).toString() };
}

/** The file that the page gives to Firefox to save it, whose downloads Playwright does not report. */
async function downloadInFirefox(page: Page, saving: Locator): Promise<{ name: string; text: string }> {
  const saved = page.evaluate<{ name: string; text: string }>(`new Promise((resolve) => {
    const { createObjectURL } = URL;
    let file;
    URL.createObjectURL = (blob) => createObjectURL((file = blob));
    HTMLAnchorElement.prototype.click = async function () {
      URL.createObjectURL = createObjectURL;
      delete HTMLAnchorElement.prototype.click;
      this.dispatchEvent(new MouseEvent('click', { cancelable: true }));
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await file.arrayBuffer());
      resolve({ name: this.download, text });
    };
  })`);
  await saving.click();
  return saved;
}

/** Opens the dialog of a book. */
export async function openBook(page: Page, title: string): Promise<void> {
  const isNarrow = (page.viewportSize()?.width ?? 0) < 640;
  await rowOf(page, title)
    .locator(isNarrow ? '.title' : '.id a')
    .click();
}

/** Deletes a book by the selection. */
export async function deleteBook(page: Page, title: string): Promise<void> {
  await rowOf(page, title).getByRole('checkbox').click();
  await page.keyboard.press('Delete');
  await page.getByText(`Deleted: “${title}”`).waitFor();
}

/** Whether the page has read and counted its list again after it had the position from which it follows the history. */
const HAS_READ_AGAIN = `(() => {
  const responses = performance.getEntriesByType('resource');
  const after = (before, text) =>
    responses.find(({ name, startTime }) => startTime >= before?.responseEnd && name.includes(text));
  const position = responses.find(({ name }) => name.includes('/changes'));
  const page = after(position, '/books?limit=100');
  const [search = ''] = page?.name.match(/&q=[^&]*/) ?? [];
  return after(page, 'limit=1&count=true' + search) !== undefined;
})()`;

/** The service of a test may stop before its page; and a test may click before the browser focuses the first field. */
const HARMLESS = /net::ERR_CONNECTION_REFUSED$|^Autofocus processing was blocked/;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Asserts that axe finds no violation of WCAG 2.2, levels A and AA, and of its best practices, or of only these rules. */
export async function assertAccessible(
  page: Page,
  state: string,
  rules: readonly string[] = TAGS,
): Promise<void> {
  // Animations change colours, except for that which closes a toast. One that is cancelled rejects.
  await page.evaluate(
    `Promise.allSettled(document.getAnimations().map((animation) =>
      animation.animationName === 'toast' || animation.effect.getTiming().iterations === Infinity || animation.finished))`,
  );
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`,
  )) as { violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] };
  assert.deepEqual(
    violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.map(({ html }) => html.slice(0, 300)),
    })),
    [],
    state,
  );
}
