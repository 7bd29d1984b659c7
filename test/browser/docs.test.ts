import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { UNSUPPORTED } from '../../testkit/browser-server.ts';
import { readDocument } from '../../testkit/document.ts';
import { LOGIN, type Service, startService } from '../../testkit/service.ts';
import { assertAccessible } from './console-pages.ts';

/** The prefix that a proxy adds to the path. */
const PREFIX = '/prefix';

/** HTML that must stay text. */
const TITLE = 'The "Odyssey" <img src=x>';

describe('The page at /docs, in a browser', () => {
  let service: Service;
  let proxy: Proxy;
  let browser: TestBrowser;
  before(async () => {
    service = await startService({ hasHistory: true });
    proxy = await startProxy(service.url);
    browser = await TestBrowser.start();
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  test('shows every operation, without errors and requests to other hosts', async (context) => {
    const page = await open(context);
    if (!page) return;
    const { paths } = await readDocument();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const shown = await page
      .locator('.opblock')
      .evaluateAll((all) => all.map(({ id }) => `${id}`.replace(/.*-/, '')));
    assert.deepEqual(new Set(shown), new Set(operations.map(({ operationId }) => operationId)));
    assert.deepEqual(complaints, []);
  });

  test('sends the token of POST /token with later requests, behind a proxy with a prefix', async (context) => {
    const page = await open(context);
    if (!page) return;
    assert.match(await send(page, 'listBooks'), /^401\b.*Authorization token required/s);
    assert.match(await send(page, 'issueToken', LOGIN), /^200\b.*"token": "/s);
    assert.match(await send(page, 'listBooks'), /^200\b.*"data": \[\]/s);
    const created = await send(page, 'createBook', JSON.stringify({ title: TITLE }));
    assert.ok(created.startsWith('201') && created.includes(JSON.stringify(TITLE)), created);
    assert.match(
      await send(page, 'createBook', '{"year":"x"}'),
      /^400\b.*error-detail: year must be an integer/s,
    );
    // The browser logs responses with errors.
    assert.deepEqual(
      complaints.filter((text) => !/the server responded with a status of 40[01]/.test(text)),
      [],
    );
  });

  test('offers a body for POST /token that is not that of a read-only token', async (context) => {
    const page = await open(context);
    if (!page) return;
    const body = (await expand(page, 'issueToken')).locator('textarea');
    assert.deepEqual(Object.keys(JSON.parse(await body.inputValue())), ['username', 'password']);
  });

  test('works with the keyboard alone, and shows the focus', async (context) => {
    const page = await open(context, { colorScheme: 'dark' });
    if (!page) return;
    const operation = page.locator('#operations-Tokens-issueToken');
    await tabTo(page, operation.locator('.opblock-summary-control'));
    await page.keyboard.press('Enter');
    await operation.locator('textarea').waitFor();
    await tabTo(page, operation.locator('textarea'));
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(LOGIN);
    await tabTo(page, operation.getByRole('button', { name: 'Execute' }));
    await page.keyboard.press('Enter');
    assert.match(await responseIn(operation), /^200\b/);
  });

  test('has the theme of the system, or that of the console', {
    skip: UNSUPPORTED.media,
  }, async (context) => {
    const page = await open(context, { colorScheme: 'dark' });
    if (!page) return;
    const waitFor = (selector: string) => page.locator(selector).waitFor({ state: 'attached' });
    await waitFor('html.dark-mode');
    await page.emulateMedia({ colorScheme: 'light' });
    await waitFor('html:not(.dark-mode)');
    await page.evaluate("localStorage.setItem('theme', 'dark')");
    await page.reload();
    await waitFor('html.dark-mode');
  });

  test('signs in by the two fields above the viewer', async (context) => {
    const page = await open(context);
    if (!page) return;
    await page.getByLabel('Username').fill('admin');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Not signed in: Invalid credentials.').waitFor();
    const { username, password } = JSON.parse(LOGIN);
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Signed in.').waitFor();
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    assert.match(await send(page, 'listBooks'), /^200\b/);
  });

  test('shows why a request is rejected, and no list of one server', async (context) => {
    const page = await open(context);
    if (!page) return;
    await send(page, 'issueToken', LOGIN);
    await send(page, 'createBook', '{"year":"x"}');
    await page.locator('.detail', { hasText: 'Error-Detail: year must be an integer' }).waitFor();
    await send(page, 'createBook', '{"year":1}');
    await page.locator('.detail').waitFor({ state: 'detached' });
    assert.equal(await page.getByText('Servers').count(), 0);
  });

  test('is accessible with open operations, and as wide as a phone', async (context) => {
    for (const options of [
      { colorScheme: 'light', viewport: { width: 1_280, height: 900 } },
      { colorScheme: 'dark', viewport: { width: 1_280, height: 900 } },
      { colorScheme: 'light', viewport: { width: 360, height: 740 } },
    ] as const) {
      const page = await open(context, options);
      if (!page) return;
      await send(page, 'issueToken', LOGIN);
      await send(page, 'createBook', '{"year":"x"}');
      await send(page, 'listBooks');
      await page.locator('.detail').waitFor();
      await assertAccessible(page, JSON.stringify(options), ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    }
  });

  /** What the browser logs, and requests to other hosts. */
  let complaints: string[] = [];

  /** Opens the page, if a browser is installed. */
  async function open(context: TestContext, options: BrowserContextOptions = {}): Promise<Page | undefined> {
    const window = await browser.open(context, options);
    if (!window) return undefined;
    const page = await window.newPage();
    complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (sent) => {
      const url = sent.url();
      if (!url.startsWith('data:') && !url.startsWith(`${proxy.url}/`))
        complaints.push(`another host: ${url}`);
    });
    await page.goto(`${proxy.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return page;
  }
});

type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** A proxy that adds a prefix to the path. */
async function startProxy(target: string) {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const forwarded = request(target + url.slice(PREFIX.length), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}${PREFIX}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Opens an operation unless it is open. */
async function expand(page: Page, id: string): Promise<Locator> {
  const operation = page.locator(`.opblock[id$=-${id}]`);
  const control = operation.locator('.opblock-summary-control');
  if ((await control.getAttribute('aria-expanded')) === 'false') await control.click();
  return operation;
}

/** Sends the request of an operation. @returns the status, body and headers of the response that the page shows */
async function send(page: Page, id: string, body?: string): Promise<string> {
  const operation = await expand(page, id);
  // React takes what Playwright fills in Firefox for its own text.
  if (body !== undefined)
    await operation.locator('textarea').evaluate((element, text) => {
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value')?.set?.call(element, text);
      element.dispatchEvent(new Event('input', { bubbles: true }));
    }, body);
  const clear = operation.getByRole('button', { name: 'Clear' });
  if (await clear.isVisible()) await clear.click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  return responseIn(operation);
}

function responseIn(operation: Locator): Promise<string> {
  return operation.locator('.live-responses-table tr.response').innerText();
}

/** Presses Tab until an element has the focus, which must be visible. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press('Tab');
    if (!(await element.evaluate((node) => node.matches(':focus')))) continue;
    assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
    return;
  }
  assert.fail('the element does not get the focus');
}
