import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findFreePort } from './free-port.ts';

/** The names that WebDriver has for keys. */
export const KEYS = {
  ArrowDown: '\uE015',
  Control: '\uE009',
  Delete: '\uE017',
  End: '\uE010',
  Enter: '\uE007',
  Escape: '\uE00C',
  F2: '\uE032',
  Insert: '\uE016',
  Shift: '\uE008',
  Tab: '\uE004',
} as const;

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const PATIENCE_MS = 60_000;
/** The programs of Debian's packages `webkit2gtk-driver` and `xvfb`. */
const PROGRAMS = ['WebKitWebDriver', 'xvfb-run'];

/** The programs that are not on the path, without which {@link WebKit} does not start. */
export function missingPrograms(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return PROGRAMS.filter((name) => !folders.some((folder) => exists(join(folder, name))));
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A window of WebKitGTK, driven by WebDriver; Playwright drives only a WebKit of its own. Disposing closes it. */
export class WebKit implements AsyncDisposable {
  readonly #url: string;
  readonly #stop: () => Promise<void>;
  #session = '';

  private constructor(url: string, stop: () => Promise<void>) {
    this.#url = url;
    this.#stop = stop;
  }

  static async start(): Promise<WebKit> {
    const port = await findFreePort();
    const screen = ['-a', '-s', '-screen 0 1400x1000x24'];
    // A process group, as xvfb-run does not pass signals on.
    const driver = spawn('xvfb-run', [...screen, 'WebKitWebDriver', `--port=${port}`], {
      detached: true,
      stdio: 'ignore',
    });
    const ended = once(driver, 'exit');
    const webkit = new WebKit(`http://127.0.0.1:${port}`, async () => {
      if (driver.pid !== undefined) process.kill(-driver.pid);
      await ended;
    });
    await waitFor(() => webkit.#call('GET', '/status').catch(() => undefined));
    const { sessionId } = await webkit.#call<{ sessionId: string }>('POST', '/session', {
      capabilities: { alwaysMatch: { pageLoadStrategy: 'normal' } },
    });
    webkit.#session = `/session/${sessionId}`;
    return webkit;
  }

  async open(url: string): Promise<void> {
    await this.#call('POST', `${this.#session}/url`, { url });
  }

  /** The value of an expression in the page. */
  evaluate<Value>(expression: string): Promise<Value> {
    return this.#call('POST', `${this.#session}/execute/sync`, { script: `return ${expression}`, args: [] });
  }

  /** Waits until an expression in the page is true. */
  async waitUntil(expression: string): Promise<void> {
    await waitFor(() => this.evaluate(expression), expression).catch(async (error: Error) => {
      throw new Error(
        `${error.message}, and the page shows ${await this.evaluate<string>('document.body.innerText')}`,
      );
    });
  }

  /** Clicks the element of a CSS selector, once it is there. */
  async click(selector: string): Promise<void> {
    await this.#call('POST', `${this.#session}/element/${await this.#find(selector)}/click`);
  }

  /** Types a text into the field of a CSS selector, once it is there. While a page loads, WebKit may lose keys: it types again. */
  async fill(selector: string, text: string): Promise<void> {
    const value = `document.querySelector(${JSON.stringify(selector)}).value`;
    await waitFor(async () => {
      const element = `${this.#session}/element/${await this.#find(selector)}`;
      await this.#call('POST', `${element}/clear`);
      await this.#call('POST', `${element}/value`, { text });
      return (await this.evaluate(value)) === text;
    }, `the text in ${selector}`);
  }

  /** Presses keys together: characters or {@link KEYS}. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#act([
      ...keys.map((value) => ({ type: 'keyDown', value })),
      ...keys.toReversed().map((value) => ({ type: 'keyUp', value })),
    ]);
  }

  /** Types a text, or keys, one after the other. @param keyMs the time between two of them */
  async type(text: string, keyMs = 0): Promise<void> {
    await this.#act(
      Array.from(text).flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
        { type: 'pause', duration: keyMs },
      ]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#session !== '') await this.#call('DELETE', this.#session);
    await this.#stop();
  }

  async #act(actions: readonly object[]): Promise<void> {
    await this.#call('POST', `${this.#session}/actions`, { actions: [{ type: 'key', id: 'keys', actions }] });
  }

  async #find(selector: string): Promise<string> {
    await this.waitUntil(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    const found = await this.#call<Record<typeof ELEMENT, string>>('POST', `${this.#session}/element`, {
      using: 'css selector',
      value: selector,
    });
    return found[ELEMENT];
  }

  async #call<Value>(method: string, path: string, body: object = {}): Promise<Value> {
    const response = await fetch(this.#url + path, {
      method,
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json' },
    });
    const { value } = (await response.json()) as { value: Value };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  }
}

/** Waits until a function returns a true value. */
async function waitFor(find: () => Promise<unknown>, what = 'the browser'): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await find())) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
