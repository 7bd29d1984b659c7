import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type Service, startService } from '../http/service.ts';
import { PATIENCE_MS } from '../support/browser.ts';
import { CLASSICS, findBook, store } from './books.ts';
import { refusals, rowOf, SIZES, seeCount, signIn, type VisitorOptions, Visits } from './visits.ts';

/** The id of a book, which are given in the order of the list. */
const idOf = (title: string) => 1 + CLASSICS.findIndex((book) => book.title === title);
const EMMA = idOf('Emma');

/** Longer than a deletion is held back. */
const UNDO_MS = 9_000;

let visits: Visits;
before(async () => {
  visits = await Visits.start();
});
after(() => visits[Symbol.asyncDispose]());

/** Comes to the classics in a service of their own. */
async function visit(
  context: TestContext,
  options: VisitorOptions = {},
  query = '',
): Promise<{ page: Page; service: Service } | undefined> {
  const service = await startService();
  context.after(() => service[Symbol.asyncDispose]());
  await store(service, CLASSICS);
  const page = await visits.open(context, `${service.url}/console/${query}`, options);
  if (!page) return undefined;
  await signIn(page);
  await page.locator('.count').getByText(/book/).waitFor();
  return { page, service };
}

const field = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const noDialog = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });

for (const [size, options] of Object.entries(SIZES)) {
  describe(`Somebody with ${size}`, () => {
    test('adds a book, and sees it', async (context) => {
      const { page, service } = (await visit(context, options)) ?? {};
      if (!page || !service) return;
      await button(page, 'Add a book').click();
      await field(page, 'Title').fill('Middlemarch  II');
      await field(page, 'Author').fill('George Eliot');
      await field(page, 'Year').fill('MDCCC');
      await page.getByText('A year is a whole number').waitFor();
      await button(page, 'Save').click();
      await field(page, 'Year').fill('1872');
      await button(page, 'Save').click();
      await seeCount(page, '44 books');
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await button(page, 'Show the newest').click();
      await rowOf(page, 'Middlemarch  II').waitFor();
      assert.equal(await page.evaluate('scrollY'), 0);
      assert.deepEqual(await findBook(service, 44), {
        id: 44,
        title: 'Middlemarch  II',
        author: 'George Eliot',
        year: 1872,
      });
    });

    test('adds no book without a title and an author, and takes back one that was added', async (context) => {
      const { page, service } = (await visit(context, options)) ?? {};
      if (!page || !service) return;
      await page.clock.install();
      await page.keyboard.press('n');
      await field(page, 'Title').press('Enter');
      await page.getByText('Enter a title or an author.').waitFor();
      assert.equal(await page.evaluate('document.activeElement.name'), 'title');
      await field(page, 'Title').fill(' ');
      await button(page, 'Save').click();
      assert.ok(await page.getByText('Enter a title or an author.').isVisible());
      await field(page, 'Title').fill('');
      await field(page, 'Author').fill('George Eliot');
      await button(page, 'Save').click();
      await seeCount(page, '44 books');
      await button(page, 'Undo').click();
      await seeCount(page, '43 books');
      await page.getByText('“(no title)” is deleted.').waitFor();
      assert.equal((await findBook(service, 44))?.author, 'George Eliot');
      const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
      await page.clock.runFor(UNDO_MS);
      assert.equal((await deleted).status(), 200);
      assert.equal(await findBook(service, 44), undefined);
    });

    test('corrects the year of a book', async (context) => {
      const { page, service } = (await visit(context, options)) ?? {};
      if (!page || !service) return;
      await page.getByRole('searchbox').fill('emma');
      await seeCount(page, '1 book');
      await rowOf(page, 'Emma').click();
      await field(page, 'Year').fill('1816');
      assert.match(page.url(), /\?q=emma&book=10$/);
      await button(page, 'Save').click();
      await noDialog(page);
      await rowOf(page, 'Emma').getByText('1816').waitFor();
      assert.match(page.url(), /\?q=emma$/);
      assert.deepEqual(await findBook(service, EMMA), {
        id: EMMA,
        title: 'Emma',
        author: 'Jane Austen',
        year: 1816,
      });
    });

    test('deletes a book and undoes that: it has never been away', async (context) => {
      const { page, service } = (await visit(context, options)) ?? {};
      if (!page || !service) return;
      await page.clock.install();
      await rowOf(page, 'Emma').click();
      await button(page, 'Delete').click();
      await seeCount(page, '42 books');
      assert.equal(await rowOf(page, 'Emma').count(), 0);
      await button(page, 'Undo').click();
      await seeCount(page, '43 books');
      await rowOf(page, 'Emma').waitFor();
      await page.clock.runFor(UNDO_MS);
      assert.equal((await findBook(service, EMMA))?.title, 'Emma');
    });

    test('edits another field than somebody else at the same time: both changes stay, and nobody is asked', async (context) => {
      const { page, service } = (await visit(context, { ...options, mayComplainOf: refusals(412) })) ?? {};
      if (!page || !service) return;
      const sent: unknown[] = [];
      page.on('request', (request) => {
        if (request.method() === 'PUT') sent.push(request.postDataJSON());
      });
      await rowOf(page, 'Emma').click();
      await field(page, 'Title').fill('Emma Woodhouse');
      await service.fetch('PUT', `/book/${EMMA}`, JSON.stringify({ author: 'J. A.' }));
      await button(page, 'Save').click();
      await noDialog(page);
      await rowOf(page, 'Emma Woodhouse').getByText('J. A.').waitFor();
      const expected = { id: EMMA, title: 'Emma Woodhouse', author: 'J. A.', year: 1815 };
      assert.deepEqual(await findBook(service, EMMA), expected);
      assert.deepEqual(sent, [{ title: 'Emma Woodhouse' }, { title: 'Emma Woodhouse' }]);
    });

    test('edits the same field as somebody else, and chooses; what only one of them has edited stays', async (context) => {
      const { page, service } = (await visit(context, { ...options, mayComplainOf: refusals(412) })) ?? {};
      if (!page || !service) return;
      const meet = async (title: string, year: string) => {
        await rowOf(page, title).click();
        await field(page, 'Title').fill(`${title} II`);
        await field(page, 'Year').fill(year);
        await service.fetch('PUT', `/book/${idOf(title)}`, JSON.stringify({ author: 'J. A.', year: 1800 }));
        await button(page, 'Save').click();
        await page.getByText('Conflicting changes').waitFor();
      };
      await meet('Emma', '1816');
      const [mine, theirs] = [page.getByLabel('Your version'), page.getByLabel('Saved version')];
      assert.match(await mine.innerText(), /Emma II.*J. A..*1816/s);
      assert.match(await theirs.innerText(), /Emma II.*J. A..*1800/s);
      assert.equal(await mine.getByText('differs').count(), 1);
      await button(page, 'Keep mine').click();
      await noDialog(page);
      const both = { id: EMMA, title: 'Emma II', author: 'J. A.', year: 1816 };
      assert.deepEqual(await findBook(service, EMMA), both);

      await meet('Persuasion', '1818');
      await button(page, 'Take theirs').click();
      await noDialog(page);
      await rowOf(page, 'Persuasion II').getByText('J. A.').waitFor();
      assert.deepEqual(await findBook(service, idOf('Persuasion')), {
        id: idOf('Persuasion'),
        title: 'Persuasion II',
        author: 'J. A.',
        year: 1800,
      });

      await meet('Walden', '1855');
      await button(page, 'Continue editing').click();
      assert.equal(await field(page, 'Year').inputValue(), '1855');
      await field(page, 'Year').fill('1856');
      await button(page, 'Save').click();
      await noDialog(page);
      assert.equal((await findBook(service, idOf('Walden')))?.year, 1856);
    });
  });
}

test('All of it can be done with the keyboard', async (context) => {
  const { page, service } = (await visit(context)) ?? {};
  if (!page || !service) return;
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=row]:focus').getByText('The Iliad', { exact: true }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('austen');
  await seeCount(page, '4 books');
  await page.keyboard.press('Escape');
  await seeCount(page, '43 books');
  await page.keyboard.type('austen');
  await seeCount(page, '4 books');
  await rowOf(page, 'Emma').waitFor();
  await page.keyboard.press('ArrowDown');
  for (const [key, title] of [
    ['End', 'Persuasion'],
    ['ArrowUp', 'Emma'],
    ['Home', 'Sense and Sensibility'],
    ['PageDown', 'Persuasion'],
    ['PageUp', 'Sense and Sensibility'],
    ['ArrowDown', 'Pride and Prejudice'],
    ['ArrowDown', 'Emma'],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator('[role=row]:focus').getByText(title, { exact: true }).waitFor();
  }
  await page.keyboard.press('Enter');
  await field(page, 'Year').waitFor();
  assert.equal(await page.evaluate('document.activeElement.name'), 'title');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('1816');
  await page.keyboard.press('Enter');
  await noDialog(page);
  await page.locator('[role=row]:focus').getByText('Emma', { exact: true }).waitFor();
  await page.keyboard.press('Delete');
  await page.locator('[role=row]:focus').getByText('Persuasion', { exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+Z');
  await rowOf(page, 'Emma').waitFor();
  await page.keyboard.press('n');
  await field(page, 'Title').waitFor();
  await page.keyboard.type('Austen 1');
  await page.keyboard.press('Enter');
  await noDialog(page);
  await seeCount(page, '5 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await seeCount(page, '4 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await seeCount(page, '5 books');
  await page.keyboard.press('?');
  await page.getByText('Undo a deletion or an addition', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
  assert.equal((await findBook(service, EMMA))?.year, 1816);
});

test('What is typed is there again after the dialog was closed, also by the back button', async (context) => {
  const { page } = (await visit(context)) ?? {};
  if (!page) return;
  await rowOf(page, 'Emma').click();
  await field(page, 'Title').fill('Emma Woodhouse');
  await page.keyboard.press('Escape');
  await noDialog(page);
  await button(page, 'Continue editing').click();
  assert.equal(await field(page, 'Title').inputValue(), 'Emma Woodhouse');
  await page.goBack();
  await noDialog(page);
  await rowOf(page, 'Emma').click();
  assert.equal(await field(page, 'Title').inputValue(), 'Emma Woodhouse');
});

test('A book that somebody has deleted meanwhile can become a new one', async (context) => {
  const { page, service } = (await visit(context, { mayComplainOf: refusals(404) })) ?? {};
  if (!page || !service) return;
  await rowOf(page, 'Emma').click();
  await field(page, 'Title').fill('Emma Woodhouse');
  await service.fetch('DELETE', `/book/${EMMA}`);
  await button(page, 'Save').click();
  await page.getByText('Book not found').waitFor();
  await seeCount(page, '42 books');
  assert.equal(await rowOf(page, 'Emma').count(), 0);
  await button(page, 'Save as a new book').click();
  await button(page, 'Save').click();
  await noDialog(page);
  assert.equal((await findBook(service, 44))?.title, 'Emma Woodhouse');
});

test('A book that is gone when it is opened is gone from the list', async (context) => {
  const { page, service } = (await visit(context, { mayComplainOf: refusals(404) })) ?? {};
  if (!page || !service) return;
  await service.fetch('DELETE', `/book/${EMMA}`);
  await rowOf(page, 'Emma').click();
  await page.getByText('Book not found').waitFor();
  await button(page, 'Close').click();
  await noDialog(page);
  await seeCount(page, '42 books');
  assert.equal(await rowOf(page, 'Emma').count(), 0);
});

test('The dialog of a book can be closed while the book is loading, and when it cannot be loaded', async (context) => {
  const { page } = (await visit(context, { mayComplainOf: refusals(503) })) ?? {};
  if (!page) return;
  const held = Promise.withResolvers<void>();
  await page.route(`**/book/${EMMA}`, async (route) => {
    await held.promise;
    await route.fulfill({ status: 503, json: { status: 503, message: 'Service unavailable', data: null } });
  });
  await rowOf(page, 'Emma').click();
  await button(page, 'Close').click();
  await noDialog(page);
  held.resolve();
  await rowOf(page, 'Emma').click();
  await page.getByText('The service is overloaded, or its store is unavailable.').waitFor();
  await button(page, 'Close').click();
  await noDialog(page);
});

test('An address of a book opens it; one of no book says so', async (context) => {
  const { page, service } = (await visit(context, { mayComplainOf: refusals(404) }, `?book=${EMMA}`)) ?? {};
  if (!page || !service) return;
  assert.equal(await field(page, 'Title').inputValue(), 'Emma');
  await button(page, 'Cancel').click();
  await noDialog(page);
  await page.goto(`${service.url}/console/?book=4000`);
  await page.getByText('There is no book with this number.').waitFor();
  await button(page, 'Close').click();
  await noDialog(page);
});

describe('A deletion', () => {
  test('is sent when nobody has undone it for a while, and waits while somebody points at it', async (context) => {
    const { page, service } = (await visit(context)) ?? {};
    if (!page || !service) return;
    await page.clock.install();
    await rowOf(page, 'Emma').focus();
    await page.keyboard.press('Delete');
    await page.getByText('“Emma” is deleted.').hover();
    await page.clock.runFor(UNDO_MS);
    assert.ok(await findBook(service, EMMA));
    await page.mouse.move(0, 0);
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.clock.runFor(UNDO_MS);
    assert.equal((await deleted).status(), 200);
    assert.equal(await findBook(service, EMMA), undefined);
    await seeCount(page, '42 books');
  });

  test('is sent when somebody signs out', async (context) => {
    const { page, service } = (await visit(context)) ?? {};
    if (!page || !service) return;
    await rowOf(page, 'Emma').focus();
    await page.keyboard.press('Delete');
    await button(page, 'Sign out').click();
    await page.getByLabel('Password').waitFor();
    assert.equal(await findBook(service, EMMA), undefined);
  });

  test('is sent when the page is left', async (context) => {
    const { page, service } = (await visit(context)) ?? {};
    if (!page || !service) return;
    const found = page.waitForResponse(`**/book/${EMMA}`);
    await rowOf(page, 'Emma').focus();
    await page.keyboard.press('Delete');
    await (await found).finished();
    // Whatever came before this answer has been seen by the page.
    await page.evaluate(`fetch('../healthz').then((answer) => answer.text())`);
    await page.goto('about:blank');
    const deadline = Date.now() + PATIENCE_MS;
    while ((await findBook(service, EMMA)) && Date.now() < deadline) await sleep(20);
    assert.equal(await findBook(service, EMMA), undefined);
  });

  test('of a book that somebody has changed is not done: it comes back as it is now', async (context) => {
    const { page, service } = (await visit(context)) ?? {};
    if (!page || !service) return;
    await page.clock.install();
    await service.fetch('PUT', `/book/${EMMA}`, '{"year":1900}');
    await rowOf(page, 'Emma').focus();
    await page.keyboard.press('Delete');
    await seeCount(page, '42 books');
    await page.clock.runFor(UNDO_MS);
    await page.getByText('“Emma” was changed by another user, and has not been deleted.').waitFor();
    await rowOf(page, 'Emma').getByText('1900').waitFor();
    assert.equal((await findBook(service, EMMA))?.year, 1900);
  });

  test('that fails is told of, and the book is back', async (context) => {
    const { page } = (await visit(context, { mayComplainOf: refusals(500) })) ?? {};
    if (!page) return;
    await page.clock.install();
    await page.route(`**/book/${EMMA}`, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } })
        : route.continue(),
    );
    await rowOf(page, 'Emma').focus();
    await page.keyboard.press('Delete');
    await seeCount(page, '42 books');
    await page.clock.runFor(UNDO_MS);
    await page.getByText('“Emma” could not be deleted.').waitFor();
    await rowOf(page, 'Emma').waitFor();
  });
});
