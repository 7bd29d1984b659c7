import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { examplesOf, readDocument } from '../../testkit/document.ts';
import { LOGIN, PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';

/** HTML that must stay text. */
const TITLE = 'The "Odyssey" <img src=x>';

describe('The page at /docs, in a browser', () => {
  let service: Service;
  let browser: TestBrowser;
  before(async () => {
    service = await startService({ hasHistory: true });
    browser = await TestBrowser.start();
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  test('shows every operation with all its responses', async (context) => {
    const page = await open(context);
    if (!page) return;
    const { paths } = await readDocument();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    assert.deepEqual(
      await page.$$eval('.operation', (cards) => cards.map(({ id }) => id)),
      operations.map(({ operationId }) => operationId),
    );
    const text = await page.$eval('main', (main) => main.textContent);
    for (const { responses } of operations) {
      for (const [, { message }] of Object.values(responses).flatMap(examplesOf)) {
        assert.ok(text.includes(message), message);
      }
    }
  });

  test('lets a user sign in and try every operation, without errors and requests to other hosts', async (context) => {
    const page = await open(context);
    if (!page) return;
    await signIn(page, PASSWORD);
    await page.waitForSelector('.pill.good');
    for (const [id, status, shown, body] of [
      ['issueToken', '200', '"token": "', LOGIN],
      ['createBook', '201', JSON.stringify(TITLE), JSON.stringify({ title: TITLE, year: -700 })],
      ['findBook', '200', JSON.stringify(TITLE)],
      ['updateBook', '200', '"title": "The Iliad"'],
      ['listBooks', '200', '"title": "The Iliad"'],
      ['deleteBook', '200', '"data": null'],
      ['readMetrics', '200', '# TYPE bookkeeping_'],
    ] as const) {
      const response = await send(page, id, body);
      assert.equal(response.status, status, id);
      assert.ok(response.text.includes(shown), `${id}: ${response.text}`);
    }
    assert.deepEqual(complaints, []);
  });

  test('shows error responses', async (context) => {
    const page = await open(context);
    if (!page) return;
    await signIn(page, 'another password');
    await page.getByText('Invalid credentials', { exact: true }).first().waitFor();
    const response = await send(page, 'listBooks');
    assert.equal(response.status, '401');
    assert.ok(response.text.includes('Authorization token required'));
  });

  test('has the theme of the console, and links to it', async (context) => {
    const page = await open(context);
    if (!page) return;
    await page.getByLabel('Theme').selectOption('dark');
    const backgroundOf = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const background = await backgroundOf();
    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.equal(await backgroundOf(), background);
    assert.equal(await page.getByLabel('Theme').inputValue(), 'dark');
    await page.getByLabel('Theme').selectOption('light');
    await page.goBack();
    await page.waitForSelector('.operation');
    assert.equal(await page.getByLabel('Theme').inputValue(), 'light');
    assert.notEqual(await backgroundOf(), background);
  });

  test('does not scroll horizontally on a narrow screen', async (context) => {
    const page = await open(context, '#createBook');
    if (!page) return;
    await page.setViewportSize({ width: 320, height: 640 });
    await signIn(page, PASSWORD);
    await send(page, 'listBooks');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
  });

  /** Errors of the page, and its requests to other hosts. */
  let complaints: string[] = [];

  /** Opens the page, if a browser is installed. */
  async function open(context: TestContext, hash = ''): Promise<Page | undefined> {
    const page = await (await browser.open(context))?.newPage();
    if (!page) return undefined;
    complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText;
      // A request may also end so when the page has read the response before the browser has detected its end.
      if (why !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} ${why}`);
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== service.url) complaints.push(`another host: ${request.url()}`);
    });
    await page.goto(`${service.url}/docs${hash}`);
    await page.waitForSelector('.operation');
    return page;
  }
});

async function signIn(page: Page, password: string): Promise<void> {
  await page.fill('[name=username]', USERNAME);
  await page.fill('[name=password]', password);
  await page.click('#sign-in button[type=submit]');
}

/** Opens an operation and sends its request. @returns the response that the page shows */
async function send(page: Page, id: string, body?: string): Promise<{ status: string; text: string }> {
  const card = page.locator(`#${id}`);
  if ((await card.getAttribute('open')) === null) await card.locator('.head').click();
  if (body !== undefined) await card.getByLabel('Body').fill(body);
  await card.getByRole('button', { name: 'Send' }).click();
  const response = card.locator('.response');
  return {
    status: await response.locator('.status').innerText(),
    text: await response.locator('pre').first().innerText(),
  };
}
