import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../../testkit/browser.ts';
import { examplesOf, readDocument } from '../../testkit/document.ts';
import { LOGIN, PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { assertAccessible } from '../console/console-pages.ts';

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

  test('shows every operation with the types of its request, and all its responses with theirs', async (context) => {
    const page = await open(context);
    if (!page) return;
    const { paths } = await readDocument();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    assert.deepEqual(
      await page.$$eval('.operation', (sections) => sections.map(({ id }) => id)),
      operations.map(({ operationId }) => operationId),
    );
    const text = await page.$eval('main', (main) => main.textContent);
    for (const { responses } of operations) {
      for (const [, { message }] of Object.values(responses).flatMap(examplesOf)) {
        assert.ok(text.includes(message), message);
      }
    }
    const terms = await page.locator('#updateBooks dt').allInnerTexts();
    const fields = ['id integer, 1 to 9007199254740991', 'title string', 'author string'];
    assert.deepEqual(terms.slice(0, 3), [`${fields[0]} required`, ...fields.slice(1)], 'the request');
    const data = terms.indexOf('data array of Book or null');
    assert.deepEqual(terms.slice(data + 1, data + 4), fields, 'the response');
    const queryTerms = await page.locator('#listBooks dt').allTextContents();
    assert.ok(queryTerms.includes('limit integer, 1 to 1000'));
    assert.ok(queryTerms.includes('Link string, optional'));
  });

  test('lets a user sign in and try every operation, without errors and requests to other hosts', async (context) => {
    const page = await open(context);
    if (!page) return;
    await signIn(page);
    for (const [id, status, shown, body] of [
      ['issueToken', '200', '"token": "', LOGIN],
      ['createBook', '201', JSON.stringify(TITLE), JSON.stringify({ title: TITLE, year: -700 })],
      ['findBook', '200', JSON.stringify(TITLE)],
      ['updateBook', '200', '"title": "The Iliad"'],
      ['createBooks', '201', '"title": "The Iliad"'],
      ['updateBooks', '200', '"title": "The Iliad"'],
      ['listBooks', '200', '"title": "The Iliad"'],
      ['deleteBook', '200', '"data": null'],
      ['listDeletedBooks', '200', '"title": "The Iliad"'],
      ['restoreBook', '200', '"title": "The Iliad"'],
      ['readHistory', '200', JSON.stringify(TITLE)],
      ['readMetrics', '200', '# TYPE bookkeeping_'],
    ] as const) {
      const response = await send(page, id, body);
      assert.equal(response.status, status, id);
      assert.ok(response.text.includes(shown), `${id}: ${response.text}`);
    }
    assert.deepEqual(complaints, []);
  });

  test('sends parameters, and shows and copies the same request for curl', async (context) => {
    const page = await open(context);
    if (!page) return;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await signIn(page);
    const form = page.locator('#listBooks form');
    await form.getByText('Optional parameters').click();
    await form.locator('[name=title]').fill("it's");
    await form.locator('[name=sort]').selectOption('-year');
    assert.ok(await form.getByRole('button', { name: 'Send' }).isVisible());
    assert.equal((await send(page, 'listBooks')).status, '200');
    await form.getByRole('button', { name: 'Copy the curl command' }).click();
    await page.getByRole('status').getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(
      copied,
      `curl \\\n  -H "Authorization: $TOKEN" \\\n  '${service.url}/books?title=it%27s&sort=-year'`,
    );
  });

  test('asks a user to sign in where a response is 401, then sends the request again', async (context) => {
    const page = await open(context);
    if (!page) return;
    const response = await send(page, 'listBooks');
    assert.equal(response.status, '401');
    assert.ok(response.text.includes('Authorization token required'));
    await page.getByRole('button', { name: 'Sign in and send again' }).click();
    await fillSignIn(page, 'another password');
    await page.getByRole('dialog').getByText('Invalid credentials', { exact: true }).waitFor();
    await fillSignIn(page, PASSWORD);
    await page.locator('#listBooks form .status').getByText('200').waitFor();
  });

  test('says when the token is read-only, and when it has expired', async (context) => {
    const page = await open(context);
    if (!page) return;
    await page.clock.install();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Read-only token').check();
    await fillSignIn(page, PASSWORD);
    await page.getByRole('button', { name: 'Signed in, read-only, 15 min left' }).waitFor();
    const response = await send(page, 'createBook');
    assert.equal(response.status, '403');
    assert.ok(response.text.includes('Read-only token'));
    await page.clock.fastForward('15:10');
    await page.getByRole('button', { name: 'Token expired: sign in' }).click();
    await page.getByRole('dialog').waitFor();
  });

  test('shows server-sent events until the user stops them', async (context) => {
    const page = await open(context);
    if (!page) return;
    await signIn(page);
    await send(page, 'createBook');
    const form = page.locator('#followChanges form');
    await form.getByText('Optional parameters').click();
    await form.locator('[name=Accept]').selectOption('text/event-stream');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('event: created').waitFor();
    await form.getByRole('button', { name: 'Stop' }).click();
    await form.getByText('Stopped').waitFor();
    assert.ok(await form.getByRole('button', { name: 'Send' }).isEnabled());
  });

  test('lists the operations, and finds one by words of its summary, path, fields and responses', async (context) => {
    const page = await open(context);
    if (!page) return;
    const links = page.getByRole('navigation').getByRole('link');
    assert.equal(await links.count(), await page.locator('.operation').count());
    await page.getByRole('searchbox').fill('PATCH ifmatch precondition');
    assert.deepEqual(await links.allInnerTexts(), ['Change many books\nPATCH']);
    await page.getByRole('searchbox').press('Enter');
    await page.locator('[aria-current=true]').getByText('Change many books').waitFor();
    assert.equal(new URL(page.url()).hash, '#updateBooks');
  });

  test('is accessible', async (context) => {
    const page = await open(context, '#listBooks');
    if (!page) return;
    await send(page, 'listBooks');
    await page.locator('#listBooks details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '');
    });
    await assertAccessible(page, 'the page');
    await page.emulateMedia({ colorScheme: 'dark' });
    await assertAccessible(page, 'the dark page', ['color-contrast']);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await assertAccessible(page, 'the dialog');
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
    await signIn(page);
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

async function signIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await fillSignIn(page, PASSWORD);
  await page.getByRole('button', { name: 'Signed in, 15 min left' }).waitFor();
}

async function fillSignIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Username').fill(USERNAME);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
}

/** Sends the request of an operation. @returns the response that the page shows */
async function send(page: Page, id: string, body?: string): Promise<{ status: string; text: string }> {
  const form = page.locator(`#${id} form`);
  if (body !== undefined) await form.getByLabel('Body', { exact: true }).fill(body);
  await form.getByRole('button', { name: 'Send', exact: true }).click();
  const text = form.getByLabel('Body of the response');
  await form.getByRole('button', { name: 'Send', exact: true }).waitFor();
  return { status: await form.locator('.status').innerText(), text: await text.innerText() };
}
