import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PASSWORD, startService, USERNAME } from '../http/service.ts';
import { ServiceProcess } from '../process/service-process.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { CLASSICS, findBook, store } from './books.ts';
import { refusals, rowOf, SIZES, seeCount, signIn, Visits } from './visits.ts';

/** A moment longer than a token is good. */
const TOKEN_MS = 15 * 60_000 + 1_000;

let visits: Visits;
before(async () => {
  visits = await Visits.start();
});
after(() => visits[Symbol.asyncDispose]());

for (const [size, options] of Object.entries(SIZES)) {
  describe(`Somebody with ${size}`, () => {
    test('gets from / to the sign-in, may mistype, and comes to the books', async (context) => {
      await using service = await startService();
      const page = await visits.open(context, service.url, { ...options, mayComplainOf: refusals(401) });
      if (!page) return;
      assert.equal(page.url(), `${service.url}/console/`);
      await signIn(page, 'another password');
      await page.getByText('Wrong username or password.').waitFor();
      assert.equal(await page.getByLabel('Username').inputValue(), USERNAME);
      await signIn(page);
      await seeCount(page, '0 books');
      await page.getByText('There are no books yet.').waitFor();
    });

    test('signs out, and the browser knows nothing any more', async (context) => {
      await using service = await startService();
      await store(service, CLASSICS);
      const page = await visits.open(context, `${service.url}/console/`, options);
      if (!page) return;
      await signIn(page);
      await rowOf(page, 'The Iliad').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Password').waitFor();
      assert.equal(await page.evaluate('sessionStorage.length'), 0);
      assert.equal(await page.getByText('The Iliad').count(), 0);
      await page.reload();
      await page.getByLabel('Password').waitFor();
    });
  });
}

test('Too many failures: the form says so, and counts down until it can be tried again', async (context) => {
  let lateness = 0;
  const throttleLimits = { failuresMax: 1, windowSeconds: 60 };
  await using service = await startService({ now: () => Date.now() + lateness, throttleLimits });
  const mayComplainOf = refusals(401, 429);
  const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf });
  if (!page) return;
  await page.clock.install();
  await signIn(page, 'another password');
  await page.getByText('Wrong username or password.').waitFor();
  await signIn(page, 'a third one');
  await page.getByText('Too many failed sign-ins.').waitFor();
  await page.getByRole('button', { name: /^Try again in [0-9]+ s$/ }).waitFor();
  lateness = 61_000;
  await page.clock.runFor(61_000);
  await signIn(page);
  await seeCount(page, '0 books');
});

test('A service that is stopped is told of; nothing typed is lost, and it goes on when the service is back', async (context) => {
  await using folder = await createFolder();
  const port = await findFreePort();
  const variables = { PORT: String(port), AUTH_USERNAME: USERNAME, AUTH_PASSWORD: PASSWORD };
  const start = () => new ServiceProcess(folder.path, variables).listening();
  const page = await (async () => {
    await using service = await start();
    const opened = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals() });
    await service.stop();
    return opened;
  })();
  if (!page) return;
  await signIn(page);
  await page.getByText('The service does not respond.').waitFor();
  assert.equal(await page.getByLabel('Password').inputValue(), PASSWORD);
  {
    await using service = await start();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await seeCount(page, '0 books');
    await page.getByRole('button', { name: 'Add a book' }).first().click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Middlemarch');
    await service.stop();
  }
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Not saved yet. The service does not respond.').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Title' }).inputValue(), 'Middlemarch');
  await using again = await start();
  assert.equal(again.port, port);
  await page.getByRole('button', { name: 'Save' }).click();
  await seeCount(page, '1 book');
  await rowOf(page, 'Middlemarch').waitFor();
});

test('A list that could not be fetched comes by itself when the service is back', async (context) => {
  await using service = await startService();
  await store(service, CLASSICS);
  const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals(503) });
  if (!page) return;
  await page.route('**/books?*', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'Service unavailable', data: null } }),
  );
  await page.clock.install();
  await signIn(page);
  const fault = page.getByText('The service is overloaded, or its store is unavailable.');
  while (!(await fault.isVisible())) await page.clock.runFor(500);
  await page.unroute('**/books?*');
  while (await fault.isVisible()) await page.clock.runFor(500);
  await rowOf(page, 'The Iliad').waitFor();
});

describe('A token that expires', () => {
  test('is renewed without a word while the page is used', async (context) => {
    let lateness = 0;
    await using service = await startService({ now: () => Date.now() + lateness });
    await store(service, CLASSICS);
    const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals(401) });
    if (!page) return;
    await signIn(page);
    await rowOf(page, 'Emma').waitFor();
    lateness = TOKEN_MS;
    await page.getByLabel('Search').fill('bovary');
    await rowOf(page, 'Madame Bovary').waitFor();
    assert.equal(await page.getByText('Please sign in again').count(), 0);
  });

  test('is renewed before it expires', async (context) => {
    await using service = await startService();
    const page = await visits.open(context, `${service.url}/console/`);
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    await seeCount(page, '0 books');
    const token = await page.evaluate('sessionStorage.token');
    await page.keyboard.press('Shift');
    await page.clock.runFor(10_000);
    await page.keyboard.press('Shift');
    const renewed = page.waitForResponse('**/token');
    await page.clock.fastForward(14 * 60_000);
    await (await renewed).finished();
    while ((await page.evaluate('sessionStorage.token')) === token) await page.clock.runFor(100);
  });

  test('has to be renewed by somebody after a reload: a dialog lies over what was typed, and then it is saved', async (context) => {
    let lateness = 0;
    await using service = await startService({ now: () => Date.now() + lateness });
    await store(service, CLASSICS);
    const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals(401) });
    if (!page) return;
    await signIn(page);
    await rowOf(page, 'Emma').waitFor();
    await page.reload();
    await rowOf(page, 'Emma').click();
    await page.getByRole('textbox', { name: 'Year', exact: true }).fill('1816');
    lateness = TOKEN_MS;
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Please sign in again' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.ok(await dialog.isVisible());
    await signIn(page, 'another password');
    await page.getByText('Wrong username or password.').waitFor();
    await signIn(page);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Saved.').waitFor();
    lateness = 0;
    assert.equal((await findBook(service, 10))?.year, 1816);
  });

  test('is not renewed when nobody has used the page: it asks who is there', async (context) => {
    let lateness = 0;
    await using service = await startService({ now: () => Date.now() + lateness });
    await store(service, CLASSICS);
    const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals(401) });
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    await rowOf(page, 'Emma').waitFor();
    await page.clock.fastForward(TOKEN_MS);
    lateness = TOKEN_MS;
    await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click();
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page);
    await rowOf(page, 'Anna Karenina').waitFor();
    assert.match(page.url(), /\?sort=title$/);
  });

  test('and one that is refused as soon as it is issued: the page tries one more, and says so', async (context) => {
    await using service = await startService();
    const page = await visits.open(context, `${service.url}/console/`, { mayComplainOf: refusals(401) });
    if (!page) return;
    let [signIns, calls] = [0, 0];
    page.on('request', (request) => {
      if (request.url().endsWith('/token')) signIns++;
    });
    await page.route('**/books?*', (route) => {
      calls++;
      return route.fulfill({ status: 401, json: { status: 401, message: 'Invalid token', data: null } });
    });
    await signIn(page);
    await page.getByText('The service rejects the token that it has just issued.').waitFor();
    assert.ok(signIns > 1 && signIns <= 1 + calls, `${signIns} sign-ins, ${calls} calls`);
    await page.unroute('**/books?*');
    await seeCount(page, '0 books');
    assert.equal(await page.getByText('Please sign in again').count(), 0);
  });
});
