import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { PASSWORD, USERNAME } from '../http/service.ts';
import { TestBrowser } from '../support/browser.ts';

/** The sizes that the page is tried in. */
export const SIZES = {
  'a desktop': { viewport: { width: 1280, height: 800 } },
  'a phone': { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
} as const satisfies Record<string, BrowserContextOptions>;

/** Who comes, with what. */
export interface VisitorOptions extends BrowserContextOptions {
  /** What the browser may complain of, as the test has it happen: `Failed to load` is what refused calls look like. */
  readonly mayComplainOf?: RegExp;
}

/** The visits that the tests of a file pay, in one browser. Disposing ends it. */
export class Visits implements AsyncDisposable {
  readonly #browser: TestBrowser;

  private constructor(browser: TestBrowser) {
    this.#browser = browser;
  }

  static async start(): Promise<Visits> {
    return new Visits(await TestBrowser.start());
  }

  /**
   * Opens the page for a visitor with a window and a memory of their own. When the test ends, so does the visit, and
   * the page must not have complained of anything, nor asked another host.
   *
   * @returns undefined where no browser starts: the test is skipped then, but fails in continuous integration
   */
  async open(context: TestContext, url: string, options: VisitorOptions = {}): Promise<Page | undefined> {
    const { mayComplainOf = /^$/, ...others } = options;
    const visitor = await this.#browser.open(context, { ...SIZES['a desktop'], locale: 'en-GB', ...others });
    if (!visitor) return undefined;
    const complaints: string[] = [];
    const page = await visitor.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(url).host) complaints.push(`asks ${request.url()}`);
    });
    context.after(() => {
      assert.deepEqual(
        complaints.filter((complaint) => !mayComplainOf.test(complaint)),
        [],
      );
    });
    await page.goto(url);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser[Symbol.asyncDispose]();
  }
}

/** What a browser says of answers with these statuses, and of none. */
export function refusals(...statuses: number[]): RegExp {
  const reasons = statuses.map((status) => `status of ${status} `);
  return new RegExp(`^Failed to load resource: (.*(${[...reasons, 'net::ERR_'].join('|')}))`);
}

/** Fills in the form and sends it. */
export async function signIn(page: Page, password = PASSWORD, username = USERNAME): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the number of books is told. */
export async function seeCount(page: Page, count: string): Promise<void> {
  await page.locator('.count').getByText(count, { exact: true }).waitFor();
}

/** The titles that are shown, from top to bottom, once the list has come. */
export async function titlesOf(page: Page): Promise<string[]> {
  await page.locator('[role=grid][aria-busy=false]').waitFor();
  return page.locator('[data-index] .title').allInnerTexts();
}

/** The row of a book, by its title. */
export function rowOf(page: Page, title: string) {
  return page.locator('[data-index]').filter({ has: page.getByText(title, { exact: true }) });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Asserts that axe finds nothing against WCAG 2.2, levels A and AA, and nothing that it calls best practice. */
export async function assertAccessible(page: Page, state: string): Promise<void> {
  // What still moves has other colours than it will have.
  await page.evaluate(
    'Promise.all(document.getAnimations().map((animation) => animation.effect.getTiming().iterations === Infinity || animation.finished))',
  );
  await page.evaluate(AXE);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] })`,
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
