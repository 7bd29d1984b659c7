import type { TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, BrowserServer } from 'playwright-core';
import { BROWSER, startBrowserServer } from './browser-server.ts';

/** More than any operation takes on a slow machine. */
export const PATIENCE_MS = 60_000;

/** The browser that the tests of a file use: that of the global setup, which all files share, or one of their own. */
export class TestBrowser implements AsyncDisposable {
  readonly #server: BrowserServer | undefined;
  readonly #browser: Browser | undefined;
  readonly #reason: string;

  private constructor(server: BrowserServer | undefined, browser: Browser | undefined, reason: string) {
    this.#server = server;
    this.#browser = browser;
    this.#reason = reason;
  }

  /** @param isOwn of this file alone, which has the clipboard for itself */
  static async start(isOwn = false): Promise<TestBrowser> {
    const { TEST_BROWSER_URL: shared, TEST_BROWSER_REASON: reason } = process.env;
    const url = isOwn ? undefined : shared;
    try {
      if (reason) throw new Error(reason);
      const server = url ? undefined : await startBrowserServer(PATIENCE_MS);
      const { [BROWSER]: type } = await import('playwright-core');
      return new TestBrowser(server, await type.connect(url ?? server?.wsEndpoint() ?? ''), '');
    } catch (error) {
      return new TestBrowser(undefined, undefined, (error as Error).message);
    }
  }

  /**
   * Opens a window with its own storage, until the test ends.
   *
   * @returns undefined if no browser starts: the test is skipped, but fails if CI is set
   */
  async open(test: TestContext, options: BrowserContextOptions = {}): Promise<BrowserContext | undefined> {
    if (!this.#browser) {
      if (process.env.CI) throw new Error(this.#reason);
      test.skip(this.#reason);
      return undefined;
    }
    const window = await this.newWindow(options);
    test.after(() => window.close());
    return window;
  }

  /** Opens a window with its own storage. @throws Error if no browser starts */
  async newWindow(options: BrowserContextOptions): Promise<BrowserContext> {
    if (!this.#browser) throw new Error(this.#reason);
    const window = await this.#browser.newContext(options);
    window.setDefaultTimeout(PATIENCE_MS);
    return window;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser?.close();
    await this.#server?.close();
  }
}
