import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { makeToken } from '../../conformance/tokens.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { PASSWORD, SECRET, startService, USERNAME } from '../../testkit/service.ts';
import { ServiceProcess } from '../../testkit/service-process.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';
import {
  assertAccessible,
  ConsolePages,
  chooseInMenu,
  doubleClick,
  failedRequests,
  laterCode,
  noDialog,
  openBook,
  paste,
  rowOf,
  signIn,
  waitForCount,
} from './console-pages.ts';

/** One second longer than the lifetime of a token. */
const TOKEN_MS = 15 * 60_000 + 1_000;

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

/** Waits until a page has another token. */
const otherToken = (page: Page, token: string) =>
  assertEventually(async () => (await page.evaluate('sessionStorage.token')) !== token, true);

test('/ leads to the sign-in form, which rejects a wrong password and then shows the books', async (context) => {
  const service = await startService();
  const page = await pages.open(context, service.url, { service, expectedMessages: failedRequests(401) });
  if (!page) return;
  assert.equal(page.url(), `${service.url}/console/`);
  await signIn(page, 'another password');
  await page.getByText('Wrong username or password.').waitFor();
  assert.equal(await page.getByLabel('Username').inputValue(), USERNAME);
  await signIn(page);
  await waitForCount(page, '0 books');
  await page.getByText('There are no books yet.').waitFor();
});

test('A sign-out removes the token and the books from the browser', async (context) => {
  const service = await startService();
  await store(service, CLASSICS);
  const page = await pages.open(context, `${service.url}/console/`, { service });
  if (!page) return;
  await signIn(page);
  await rowOf(page, 'The Iliad').waitFor();
  await chooseInMenu(page, 'Sign out');
  await page.getByLabel('Password', { exact: true }).waitFor();
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  assert.equal(await page.getByText('The Iliad').count(), 0);
  await page.reload();
  await page.getByLabel('Password', { exact: true }).waitFor();
});

test('The form of signing in shows the password on demand, and keeps the name', async (context) => {
  const service = await startService();
  await store(service, CLASSICS);
  const page = await pages.open(context, `${service.url}/console/`, {
    service,
    expectedMessages: failedRequests(401),
  });
  if (!page) return;
  const password = page.getByLabel('Password', { exact: true });
  const button = page.getByRole('button', { name: 'Sign in' });
  const place = async () => JSON.stringify(await button.boundingBox());
  const placeBefore = await place();
  await signIn(page, 'another password');
  await page.getByText('Wrong username or password.').waitFor();
  assert.equal(await place(), placeBefore);
  assert.equal(await password.getAttribute('type'), 'password');
  await page.getByRole('button', { name: 'Show password' }).click();
  assert.equal(await password.getAttribute('type'), 'text');
  assert.equal(await password.inputValue(), 'another password');
  await signIn(page);
  await rowOf(page, 'The Iliad').waitFor();
  await page.locator('#search:focus').waitFor();
  await chooseInMenu(page, 'Sign out');
  await page.locator('[name=password]:focus').waitFor();
  await page.reload();
  assert.equal(await page.getByLabel('Username').inputValue(), USERNAME);
  await page.locator('[name=password]:focus').waitFor();
});

test('The tabs of a browser share a session and its end', async (context) => {
  const service = await startService();
  const first = await pages.open(context, `${service.url}/console/`, { service });
  if (!first) return;
  const second = await first.context().newPage();
  await second.goto(`${service.url}/console/`);
  await second.getByLabel('Password', { exact: true }).waitFor();
  await signIn(first);
  await waitForCount(second, '0 books');
  const third = await first.context().newPage();
  await third.goto(`${service.url}/console/`);
  await waitForCount(third, '0 books');
  await chooseInMenu(third, 'Sign out');
  for (const page of [first, second, third]) {
    await page.getByLabel('Password', { exact: true }).waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  }
});

test('After too many failed sign-ins, the form counts down until the next attempt is allowed', async (context) => {
  let passedMs = 0;
  const httpLimits = { failedLogins: 1 };
  const service = await startService({ monotonicNow: () => performance.now() + passedMs, httpLimits });
  const expectedMessages = failedRequests(401, 429);
  const page = await pages.open(context, `${service.url}/console/`, { service, expectedMessages });
  if (!page) return;
  await page.clock.install();
  await signIn(page, 'another password');
  await page.getByText('Wrong username or password.').waitFor();
  await signIn(page, 'a third one');
  await page.getByText('Too many failed sign-ins.').waitFor();
  await page.getByRole('button', { name: /^Try again in [0-9]+ s$/ }).waitFor();
  passedMs = 61_000;
  await page.clock.runFor(61_000);
  await signIn(page);
  await waitForCount(page, '0 books');
});

test('While the service is stopped, the page reports it and keeps the input, which is saved after a restart', async (context) => {
  await using folder = await createFolder();
  const port = await findFreePort();
  const variables = { PORT: String(port), AUTH_USERNAME: USERNAME, AUTH_PASSWORD: PASSWORD };
  const start = () => new ServiceProcess(folder.path, variables).listening();
  const page = await (async () => {
    await using service = await start();
    const opened = await pages.open(context, `${service.url}/console/`, {
      expectedMessages: failedRequests(),
    });
    // Its texts come after the page.
    await opened?.getByLabel('Username').waitFor();
    await service.stop();
    return opened;
  })();
  if (!page) return;
  await signIn(page);
  await page.getByText('The catalogue cannot be reached.').waitFor();
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), PASSWORD);
  {
    await using service = await start();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await waitForCount(page, '0 books');
    await page.getByRole('button', { name: 'Add a book' }).first().click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Middlemarch');
    await service.stop();
  }
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').getByText('Not saved: no connection.').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Title' }).inputValue(), 'Middlemarch');
  await using again = await start();
  assert.equal(again.port, port);
  await noDialog(page);
  await waitForCount(page, '1 book');
  await rowOf(page, 'Middlemarch').waitFor();
});

test('A list and code that could not be loaded are loaded automatically when the service is available again', async (context) => {
  const service = await startService();
  await store(service, CLASSICS);
  const page = await pages.open(context, `${service.url}/console/`, {
    service,
    expectedMessages: failedRequests(503),
  });
  if (!page) return;
  await page.route('**/books?*', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'Service unavailable', data: null } }),
  );
  await page.route('**/console/', (route) => route.abort());
  await page.clock.install();
  await signIn(page);
  const loadError = page.getByText('The service is not available at the moment.');
  await loadError.waitFor();
  await page.unroute('**/books?*');
  await page.clock.runFor(5_000);
  await loadError.waitFor({ state: 'detached' });
  await page.unroute('**/console/');
  await openBook(page, 'The Iliad');
  await page.clock.runFor(5_000);
  await page.getByRole('dialog').waitFor();
});

describe('A token that expires', () => {
  test('is renewed before, also after a reload, without a password, and in all tabs', async (context) => {
    const service = await startService();
    const page = await pages.open(context, `${service.url}/console/`, { service });
    if (!page) return;
    const signIns: string[] = [];
    page.context().on('request', (request) => {
      if (request.url().endsWith('/token')) signIns.push(request.url());
    });
    await page.clock.install();
    await signIn(page);
    await waitForCount(page, '0 books');
    await page.reload();
    await waitForCount(page, '0 books');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/console/`);
    await waitForCount(other, '0 books');
    const token = await page.evaluate<string>('sessionStorage.token');
    assert.equal(await other.evaluate('sessionStorage.token'), token);
    await page.clock.fastForward(14 * 60_000);
    await otherToken(page, token);
    await otherToken(other, token);
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.equal(signIns.length, 1);
  });

  test('is renewed again and again while the service does not respond, or a proxy rejects it, without a dialog', async (context) => {
    const service = await startService();
    const page = await pages.open(context, `${service.url}/console/`, {
      service,
      expectedMessages: failedRequests(429),
    });
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    await waitForCount(page, '0 books');
    const token = await page.evaluate<string>('sessionStorage.token');
    await page.keyboard.press('Shift');
    const attempts: string[] = [];
    await page.route('**/token/renewal', (route) => {
      attempts.push(route.request().url());
      // As a proxy in front of the service does.
      return attempts.length % 2 ? route.abort() : route.fulfill({ status: 429 });
    });
    await page.clock.fastForward(13.6 * 60_000);
    while (attempts.length < 3) await page.clock.runFor(1_000);
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.unroute('**/token/renewal');
    // Not until the response: on a slow machine it would be too late by this clock.
    const requests: string[] = [];
    page.once('request', (request) => requests.push(request.url()));
    while (requests.length === 0) await page.clock.runFor(1_000);
    await otherToken(page, token);
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('is not renewed for a tab whose user signs out in another one meanwhile', async (context) => {
    const service = await startService();
    const page = await pages.open(context, `${service.url}/console/`, { service });
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    await waitForCount(page, '0 books');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/console/`);
    await waitForCount(other, '0 books');
    const { promise: isSignedOut, resolve: respond } = Promise.withResolvers<void>();
    await page.route('**/token/renewal', async (route) => {
      const response = await route.fetch();
      await isSignedOut;
      await route.fulfill({ response });
    });
    await page.keyboard.press('Shift');
    const requested = page.waitForRequest('**/token/renewal');
    await page.clock.fastForward(14 * 60_000);
    const renewal = await requested;
    await chooseInMenu(other, 'Sign out');
    await page.getByLabel('Password', { exact: true }).waitFor();
    respond();
    await (await renewal.response())?.finished();
    await page.clock.runFor(1_000);
    assert.equal(await page.evaluate('sessionStorage.token'), undefined);
    await page.getByLabel('Password', { exact: true }).waitFor();
  });

  test('12 hours after the sign-in ends the session: a warning, two minutes later a sign-in, and what is half typed stays', async (context) => {
    const exp = Math.floor(Date.now() / 1_000) + 10 * 60;
    const payload = { exp, auth_time: exp - (12 * 60 + 5) * 60 };
    const { page, service } =
      (await pages.openConsole(context, { token: makeToken(SECRET, { payload }) })) ?? {};
    if (!page || !service) return;
    await page.clock.install();
    // The token of the page is read again, with timers of this clock.
    await page.reload();
    await rowOf(page, 'Emma').waitFor();
    await doubleClick(rowOf(page, 'Emma').locator('.title'));
    const editor = page.locator('.cell-editor:focus');
    await editor.waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type(' and');
    await page.clock.fastForward(6.5 * 60_000);
    const warning = page.getByText('Your session ends in two minutes.');
    while (!(await warning.isVisible())) await page.clock.runFor(1_000);
    assert.equal(await editor.inputValue(), 'Emma and');
    await assertAccessible(page, 'the warning before the end of a session');

    // The user may sign in now, or later.
    const dialog = page.getByRole('dialog', { name: 'Please sign in again' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('Your session ends in two minutes.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await editor.waitFor();
    await page.keyboard.type(' Jane');
    while (!(await dialog.isVisible())) await page.clock.runFor(1_000);
    await dialog.getByText('Your session has expired.').waitFor();
    assert.equal(await warning.count(), 0);
    await signIn(page);
    await dialog.waitFor({ state: 'detached' });
    await editor.waitFor();
    await page.keyboard.type(' Knightley');
    assert.equal(await editor.inputValue(), 'Emma and Jane Knightley');
    assert.equal((await findBook(service, 10))?.title, 'Emma');
    await page.keyboard.press('Enter');
    await page.locator('.saving').waitFor({ state: 'detached' });
    await rowOf(page, 'Emma and Jane Knightley').waitFor();
  });

  test('while the machine sleeps requires a sign-in: a dialog opens over the form, whose input is then saved', async (context) => {
    let clockOffset = 0;
    const service = await startService({ now: () => Date.now() + clockOffset });
    await store(service, CLASSICS);
    const page = await pages.open(context, `${service.url}/console/`, {
      service,
      expectedMessages: failedRequests(401),
    });
    if (!page) return;
    await signIn(page);
    await rowOf(page, 'Emma').waitFor();
    await page.reload();
    await openBook(page, 'Emma');
    await page.getByRole('textbox', { name: 'Year', exact: true }).fill('1816');
    // Not before: another request of the page would open the dialog over the button.
    await page.route('**/books', (route) => {
      clockOffset = TOKEN_MS;
      return route.continue();
    });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Please sign in again' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.ok(await dialog.isVisible());
    await signIn(page, 'another password');
    await page.getByText('Wrong username or password.').waitFor();
    await signIn(page);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Changed: “Emma”').waitFor();
    clockOffset = 0;
    assert.equal((await findBook(service, 10))?.year, 1816);
  });

  test('is not renewed when the page has not been used: the next call requires a sign-in', async (context) => {
    let clockOffset = 0;
    const service = await startService({ now: () => Date.now() + clockOffset });
    await store(service, CLASSICS);
    const page = await pages.open(context, `${service.url}/console/`, {
      service,
      expectedMessages: failedRequests(401),
    });
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    // Otherwise the count would be the next call, and open the dialog over the list.
    await waitForCount(page, `${CLASSICS.length} books`);
    await page.clock.fastForward(TOKEN_MS);
    await page.route(/[/]token[/]renewal$|sort=title/, (route) => {
      clockOffset = TOKEN_MS;
      return route.continue();
    });
    await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click();
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page);
    await rowOf(page, 'Anna Karenina').waitFor();
    assert.match(page.url(), /\?sort=title$/);
  });

  test('or is rejected as soon as it is issued is renewed once per call, and then reported', async (context) => {
    const service = await startService();
    const page = await pages.open(context, `${service.url}/console/`, {
      service,
      expectedMessages: failedRequests(401),
    });
    if (!page) return;
    let [renewals, calls] = [0, 0];
    page.on('request', (request) => {
      if (request.url().endsWith('/token/renewal')) renewals++;
    });
    await page.route('**/books?*', (route) => {
      calls++;
      return route.fulfill({
        status: 401,
        // Until the user asks.
        headers: { 'Retry-After': '3600' },
        json: { status: 401, message: 'Invalid token', data: null },
      });
    });
    await signIn(page);
    await page.getByText('The service rejects the token that it has just issued.').waitFor();
    assert.ok(renewals > 0 && renewals <= calls, `${renewals} renewals, ${calls} calls`);
    await page.unroute('**/books?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await waitForCount(page, '0 books');
    assert.equal(await page.getByText('Please sign in again').count(), 0);
  });
});

test('A user who only looks has no control that changes anything, and is told why', async (context) => {
  const service = await startService({ hasHistory: true });
  await store(service, CLASSICS);
  await service.fetch('PUT', '/book/10', '{"year":1816}');
  await service.fetch('DELETE', '/book/4');
  const page = await pages.open(context, `${service.url}/console/?book=new`, { service });
  if (!page) return;
  const changes: string[] = [];
  page.on('request', (request) => {
    if (!['GET', 'HEAD'].includes(request.method()) && !request.url().endsWith('/token'))
      changes.push(request.url());
  });
  await page.getByLabel('Only look, change nothing').check();
  await signIn(page);
  await page.getByText('You signed in only to look: nothing can be changed.').waitFor();
  await rowOf(page, 'The Iliad').waitFor();
  await laterCode(page);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await assertAccessible(page, 'a read-only session');
  const buttons = async () => (await page.getByRole('button').allInnerTexts()).filter(Boolean);
  assert.deepEqual(
    (await buttons()).filter((text) => /add|import|delete|undo|set|restore|duplicates|save/i.test(text)),
    [],
  );
  await page.locator('.menu-button').click();
  await page.locator('#menu').getByRole('button', { name: 'History' }).waitFor();
  assert.deepEqual((await page.locator('#menu').getByRole('button').allInnerTexts()).toSorted(), [
    'Export',
    'History',
    'Print',
    'Shortcuts',
    'Show the chart',
    'Sign out',
  ]);
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('dialog').getByText('Deleted: “Robinson Crusoe”').waitFor();
  await assertAccessible(page, 'the history of a read-only session');
  assert.deepEqual(await page.getByRole('dialog').getByRole('button').allInnerTexts(), ['Close']);
  await page.keyboard.press('Escape');
  await noDialog(page);
  await page.keyboard.press('Control+/');
  await page.getByText('Show these shortcuts').waitFor();
  assert.equal(await page.getByText('Undo or redo the last change').count(), 0);
  await page.keyboard.press('Escape');
  await noDialog(page);

  await rowOf(page, 'The Iliad').locator('.year').click();
  for (const key of ['Delete', 'x', 'Insert', 'ControlOrMeta+Z', 'ControlOrMeta+Y'])
    await page.keyboard.press(key);
  await paste(page, '1');
  assert.equal(await page.locator('.cell-editor, dialog').count(), 0);
  await page.keyboard.press('ControlOrMeta+A');
  await page.getByText('42 selected').first().waitFor();
  const selection = page.getByRole('region', { name: 'Selection' });
  assert.deepEqual((await selection.getByRole('button').allInnerTexts()).toSorted(), ['Export', '✕']);

  await doubleClick(rowOf(page, 'Emma').locator('.year'));
  const dialog = page.getByRole('dialog', { name: 'Book' });
  await dialog.getByLabel('Title').waitFor();
  await assertAccessible(page, 'a book of a read-only session');
  assert.equal(await dialog.getByLabel('Title').getAttribute('readonly'), '');
  assert.deepEqual((await dialog.getByRole('button').allInnerTexts()).toSorted(), ['Close', 'History']);
  await dialog.getByRole('button', { name: 'History' }).click();
  await dialog.getByText('Added: “Emma”').waitFor();
  assert.equal(await dialog.getByRole('button', { name: /Restore|Undo/ }).count(), 0);

  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByText('You signed in only to look').waitFor();
  assert.deepEqual(changes, []);
  await chooseInMenu(page, 'Sign out');
  assert.equal(await page.getByLabel('Only look, change nothing').isChecked(), false);
  await signIn(page);
  await page.getByRole('button', { name: 'Add a book' }).waitFor();
  assert.equal(await page.getByText('You signed in only to look').count(), 0);
});
