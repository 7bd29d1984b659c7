import { accessSync, constants, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserServer, LaunchOptions } from 'playwright-core';

const ROOT = join(import.meta.dirname, '..');

/** The browser of the tests: `BROWSER=firefox` runs them in Firefox. */
export const BROWSER = process.env.BROWSER === 'firefox' ? 'firefox' : 'chromium';

/** What Playwright cannot do in the browser of the tests, and why: the `skip` of a test that needs it. */
export const UNSUPPORTED = {
  media: BROWSER === 'firefox' && 'Firefox 153 has no command that sets the medium or the colour scheme',
};

/** The names of installed browsers on the path. */
const NAMES = {
  chromium: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  firefox: ['firefox', 'firefox-esr'],
};
/** The browsers that Playwright finds where they install themselves, on Linux, macOS and Windows. */
const CHANNELS = { chromium: ['chrome', 'msedge'], firefox: ['moz-firefox'] };

/**
 * Starts a browser, whose address is `wsEndpoint()`. Chromium is that of `CHROMIUM_PATH`, one on the path, the packaged one, which
 * runs on Linux x64 only, an installed one, or one that `npx playwright-core install chromium` has installed; Firefox is one on the
 * path or an installed one. A channel that is not installed leaves two folders behind, so these come late.
 *
 * @param timeoutMs for each start
 * @throws Error when none starts
 */
export async function startBrowserServer(timeoutMs: number): Promise<BrowserServer> {
  if (BROWSER === 'firefox') adaptToFirefox();
  const { [BROWSER]: type } = await import('playwright-core');
  const reasons: string[] = [];
  const channels = CHANNELS[BROWSER].map((channel) => async () => ({ channel }));
  const others = BROWSER === 'chromium' ? [packagedBrowser, ...channels, async () => ({})] : channels;
  for (const find of [browserOnPath, ...others]) {
    try {
      // The sandbox does not work as root; the browser visits only the service.
      return await type.launchServer({
        ...(await find()),
        chromiumSandbox: false,
        firefoxUserPrefs: FIREFOX_PREFERENCES,
        timeout: timeoutMs,
      });
    } catch (error) {
      reasons.push(reasonOf(error));
    }
  }
  throw new Error(`no ${BROWSER} starts; install it, or set CHROMIUM_PATH (${reasons.join('; ')})`);
}

async function browserOnPath(): Promise<LaunchOptions> {
  const candidates = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES[BROWSER].map((name) => join(folder, name)));
  const chosen = BROWSER === 'chromium' ? process.env.CHROMIUM_PATH : undefined;
  const executablePath = chosen || candidates.find(isExecutable);
  if (!executablePath) throw new Error('none on the path');
  // With this channel, Playwright drives a Firefox that it has not patched, by WebDriver BiDi.
  return BROWSER === 'firefox' ? { executablePath, channel: 'moz-firefox' } : { executablePath };
}

/** As in Chromium: scroll bars take no place, tests read the clipboard unasked, there is a mouse, and no panel takes the focus. */
const FIREFOX_PREFERENCES = {
  'ui.useOverlayScrollbars': 1,
  'dom.events.testing.asyncClipboard': true,
  'ui.primaryPointerCapabilities': 6,
  'ui.allPointerCapabilities': 6,
  'browser.download.alwaysOpenPanel': false,
};

/** The browser of @sparticuz/chromium with its libraries, unpacked once. */
async function packagedBrowser(): Promise<LaunchOptions> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('no packaged one for this platform');
  const { default: packaged, inflate } = await import('@sparticuz/chromium');
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

/** Firefox 153 lacks a command that Playwright 1.65 sends for each page, with the colour scheme: sends one without effect instead. */
function adaptToFirefox(): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith('/playwright-core/lib/coreBundle.js')) return loaded;
      const source = readFileSync(fileURLToPath(url), 'utf8').replaceAll(
        '"emulation.setMediaFeaturesOverride"',
        '"session.status"',
      );
      return { ...loaded, source };
    },
  });
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
