import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { PATIENCE_MS } from '../support/browser.ts';
import { CLASSICS, findBook } from './books.ts';
import { ConsolePages, failedRequests, openBook, rowOf, SIZES, waitForCount } from './console-pages.ts';

/** The id of a book, by its position in the list. */
const idOf = (title: string) => 1 + CLASSICS.findIndex((book) => book.title === title);
const EMMA = idOf('Emma');

/** Longer than a deletion can be undone. */
const AFTER_UNDO_MS = 9_000;

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

const field = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const noDialog = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });

for (const [size, options] of Object.entries(SIZES)) {
  describe(`On ${size}, a user`, () => {
    test('adds a book, which the list then shows', async (context) => {
      const { page, service } = (await pages.openConsole(context, options)) ?? {};
      if (!page || !service) return;
      await button(page, 'Add a book').click();
      await field(page, 'Title').fill('Middlemarch  II');
      await field(page, 'Author').fill('George Eliot');
      await field(page, 'Year').fill('MDCCC');
      await page.getByText('A year is a whole number').waitFor();
      await button(page, 'Save').click();
      await field(page, 'Year').fill('1872');
      await button(page, 'Save').click();
      await waitForCount(page, '44 books');
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

    test('cannot add a book without title and author, and can undo an addition', async (context) => {
      const { page, service } = (await pages.openConsole(context, options)) ?? {};
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
      await waitForCount(page, '44 books');
      await button(page, 'Undo').click();
      await waitForCount(page, '43 books');
      await page.getByText('“(no title)” is deleted.').waitFor();
      assert.equal((await findBook(service, 44))?.author, 'George Eliot');
      const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
      await page.clock.runFor(AFTER_UNDO_MS);
      assert.equal((await deleted).status(), 200);
      assert.equal(await findBook(service, 44), undefined);
    });

    test('corrects the year of a book', async (context) => {
      const { page, service } = (await pages.openConsole(context, options)) ?? {};
      if (!page || !service) return;
      await page.getByRole('searchbox').fill('emma');
      await waitForCount(page, '1 book');
      await openBook(page, 'Emma');
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

    test('deletes a book and undoes the deletion before it is sent', async (context) => {
      const { page, service } = (await pages.openConsole(context, options)) ?? {};
      if (!page || !service) return;
      await page.clock.install();
      await openBook(page, 'Emma');
      await button(page, 'Delete').click();
      await waitForCount(page, '42 books');
      assert.equal(await rowOf(page, 'Emma').count(), 0);
      await button(page, 'Undo').click();
      await waitForCount(page, '43 books');
      await rowOf(page, 'Emma').waitFor();
      await page.clock.runFor(AFTER_UNDO_MS);
      assert.equal((await findBook(service, EMMA))?.title, 'Emma');
    });

    test('edits a book while another user edits a different field: both changes are saved without a dialog', async (context) => {
      const { page, service } =
        (await pages.openConsole(context, { ...options, expectedMessages: failedRequests(412) })) ?? {};
      if (!page || !service) return;
      const sent: unknown[] = [];
      page.on('request', (request) => {
        if (request.method() === 'PUT') sent.push(request.postDataJSON());
      });
      await openBook(page, 'Emma');
      await field(page, 'Title').fill('Emma Woodhouse');
      await service.fetch('PUT', `/book/${EMMA}`, JSON.stringify({ author: 'J. A.' }));
      await button(page, 'Save').click();
      await noDialog(page);
      await rowOf(page, 'Emma Woodhouse').getByText('J. A.').waitFor();
      const expected = { id: EMMA, title: 'Emma Woodhouse', author: 'J. A.', year: 1815 };
      assert.deepEqual(await findBook(service, EMMA), expected);
      assert.deepEqual(sent, [{ title: 'Emma Woodhouse' }, { title: 'Emma Woodhouse' }]);
    });

    test('edits the same field as another user, and chooses a version; changes to other fields are kept', async (context) => {
      const { page, service } =
        (await pages.openConsole(context, { ...options, expectedMessages: failedRequests(412) })) ?? {};
      if (!page || !service) return;
      const makeConflict = async (title: string, year: string) => {
        await openBook(page, title);
        await field(page, 'Title').fill(`${title} II`);
        await field(page, 'Year').fill(year);
        await service.fetch('PUT', `/book/${idOf(title)}`, JSON.stringify({ author: 'J. A.', year: 1800 }));
        await button(page, 'Save').click();
        await page.getByText('Conflicting changes').waitFor();
      };
      await makeConflict('Emma', '1816');
      const [mine, theirs] = [page.getByLabel('Your version'), page.getByLabel('Saved version')];
      assert.match(await mine.innerText(), /Emma II.*J. A..*1816/s);
      assert.match(await theirs.innerText(), /Emma II.*J. A..*1800/s);
      assert.equal(await mine.getByText('differs').count(), 1);
      await button(page, 'Keep mine').click();
      await noDialog(page);
      const both = { id: EMMA, title: 'Emma II', author: 'J. A.', year: 1816 };
      assert.deepEqual(await findBook(service, EMMA), both);

      await makeConflict('Persuasion', '1818');
      await button(page, 'Take theirs').click();
      await noDialog(page);
      await rowOf(page, 'Persuasion II').getByText('J. A.').waitFor();
      assert.deepEqual(await findBook(service, idOf('Persuasion')), {
        id: idOf('Persuasion'),
        title: 'Persuasion II',
        author: 'J. A.',
        year: 1800,
      });

      await makeConflict('Walden', '1855');
      await button(page, 'Continue editing').click();
      assert.equal(await field(page, 'Year').inputValue(), '1855');
      await field(page, 'Year').fill('1856');
      await button(page, 'Save').click();
      await noDialog(page);
      assert.equal((await findBook(service, idOf('Walden')))?.year, 1856);
    });
  });
}

test('All functions can be used with the keyboard', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const titleFocused = page.locator('dialog [name=title]:focus');
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=row]:focus-within').getByText('The Iliad', { exact: true }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('austen');
  await waitForCount(page, '4 books');
  await page.keyboard.press('Escape');
  await waitForCount(page, '43 books');
  await page.keyboard.type('austen');
  await waitForCount(page, '4 books');
  await rowOf(page, 'Emma').waitFor();
  await page.keyboard.press('ArrowDown');
  for (const [key, title] of [
    ['Control+End', 'Persuasion'],
    ['ArrowUp', 'Emma'],
    ['Control+Home', 'Sense and Sensibility'],
    ['PageDown', 'Persuasion'],
    ['PageUp', 'Sense and Sensibility'],
    ['ArrowDown', 'Pride and Prejudice'],
    ['ArrowDown', 'Emma'],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator('[role=row]:focus-within').getByText(title, { exact: true }).waitFor();
  }
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await titleFocused.waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('1816');
  await page.keyboard.press('Enter');
  await noDialog(page);
  await page.locator('[role=row]:focus-within').getByText('Emma', { exact: true }).waitFor();
  await page.keyboard.press('Delete');
  await page.locator('[role=row]:focus-within').getByText('Persuasion', { exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+Z');
  await rowOf(page, 'Emma').waitFor();
  await page.keyboard.press('n');
  await titleFocused.waitFor();
  await page.keyboard.type('Austen 1');
  await page.keyboard.press('Enter');
  await noDialog(page);
  await waitForCount(page, '5 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '4 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '5 books');
  await page.keyboard.press('?');
  await page.getByText('Undo a deletion, an addition or a change', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
  assert.equal((await findBook(service, EMMA))?.year, 1816);
});

test('A closed dialog keeps its input, also when the back button closes it', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  await openBook(page, 'Emma');
  await field(page, 'Title').fill('Emma Woodhouse');
  await page.keyboard.press('Escape');
  await noDialog(page);
  await button(page, 'Continue editing').click();
  assert.equal(await field(page, 'Title').inputValue(), 'Emma Woodhouse');
  await page.goBack();
  await noDialog(page);
  await openBook(page, 'Emma');
  assert.equal(await field(page, 'Title').inputValue(), 'Emma Woodhouse');
});

test('The edit of a book that another user has deleted can be saved as a new book', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(404) })) ?? {};
  if (!page || !service) return;
  await openBook(page, 'Emma');
  await field(page, 'Title').fill('Emma Woodhouse');
  await service.fetch('DELETE', `/book/${EMMA}`);
  await button(page, 'Save').click();
  await page.getByText('Book not found').waitFor();
  await waitForCount(page, '42 books');
  assert.equal(await rowOf(page, 'Emma').count(), 0);
  await button(page, 'Save as a new book').click();
  await button(page, 'Save').click();
  await noDialog(page);
  assert.equal((await findBook(service, 44))?.title, 'Emma Woodhouse');
});

test('A book that is found deleted when it is opened is removed from the list', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(404) })) ?? {};
  if (!page || !service) return;
  await service.fetch('DELETE', `/book/${EMMA}`);
  await openBook(page, 'Emma');
  await page.getByText('Book not found').waitFor();
  await button(page, 'Close').click();
  await noDialog(page);
  await waitForCount(page, '42 books');
  assert.equal(await rowOf(page, 'Emma').count(), 0);
});

test('The dialog of a book can be closed while the book is loading, and when it cannot be loaded', async (context) => {
  const { page } = (await pages.openConsole(context, { expectedMessages: failedRequests(503) })) ?? {};
  if (!page) return;
  const held = Promise.withResolvers<void>();
  await page.route(`**/book/${EMMA}`, async (route) => {
    await held.promise;
    await route.fulfill({ status: 503, json: { status: 503, message: 'Service unavailable', data: null } });
  });
  await openBook(page, 'Emma');
  await button(page, 'Close').click();
  await noDialog(page);
  held.resolve();
  await openBook(page, 'Emma');
  await page.getByText('The service is overloaded, or its store is unavailable.').waitFor();
  await button(page, 'Close').click();
  await noDialog(page);
});

test('The URL of a book opens it; the URL of a missing book says so', async (context) => {
  const { page, service } =
    (await pages.openConsole(
      context,
      { expectedMessages: failedRequests(404) },
      { query: `?book=${EMMA}` },
    )) ?? {};
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
  test('is sent after the time to undo, which pauses while the pointer is over the toast', async (context) => {
    const { page, service } = (await pages.openConsole(context)) ?? {};
    if (!page || !service) return;
    await page.clock.install();
    await rowOf(page, 'Emma').locator('.title').focus();
    await page.keyboard.press('Delete');
    await page.getByText('“Emma” is deleted.').hover();
    await page.clock.runFor(AFTER_UNDO_MS);
    assert.ok(await findBook(service, EMMA));
    await page.mouse.move(0, 0);
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.clock.runFor(AFTER_UNDO_MS);
    assert.equal((await deleted).status(), 200);
    assert.equal(await findBook(service, EMMA), undefined);
    await waitForCount(page, '42 books');
  });

  test('is sent at a sign-out', async (context) => {
    const { page, service } = (await pages.openConsole(context)) ?? {};
    if (!page || !service) return;
    await rowOf(page, 'Emma').locator('.title').focus();
    await page.keyboard.press('Delete');
    await button(page, 'Sign out').click();
    await page.getByLabel('Password').waitFor();
    assert.equal(await findBook(service, EMMA), undefined);
  });

  test('is sent when the page is closed', async (context) => {
    const { page, service } = (await pages.openConsole(context)) ?? {};
    if (!page || !service) return;
    const found = page.waitForResponse(`**/book/${EMMA}`);
    await rowOf(page, 'Emma').locator('.title').focus();
    await page.keyboard.press('Delete');
    await (await found).finished();
    // After this response, the page has processed the previous ones.
    await page.evaluate(`fetch('../healthz').then((response) => response.text())`);
    await page.goto('about:blank');
    const deadline = Date.now() + PATIENCE_MS;
    while ((await findBook(service, EMMA)) && Date.now() < deadline) await sleep(20);
    assert.equal(await findBook(service, EMMA), undefined);
  });

  test('of a book that another user has changed is cancelled, and the list shows the current version', async (context) => {
    const { page, service } = (await pages.openConsole(context)) ?? {};
    if (!page || !service) return;
    await page.clock.install();
    await service.fetch('PUT', `/book/${EMMA}`, '{"year":1900}');
    await rowOf(page, 'Emma').locator('.title').focus();
    await page.keyboard.press('Delete');
    await waitForCount(page, '42 books');
    await page.clock.runFor(AFTER_UNDO_MS);
    await page.getByText('“Emma” was changed by another user, and has not been deleted.').waitFor();
    await rowOf(page, 'Emma').getByText('1900').waitFor();
    assert.equal((await findBook(service, EMMA))?.year, 1900);
  });

  test('that fails is reported, and the book is listed again', async (context) => {
    const { page } = (await pages.openConsole(context, { expectedMessages: failedRequests(500) })) ?? {};
    if (!page) return;
    await page.clock.install();
    await page.route(`**/book/${EMMA}`, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } })
        : route.continue(),
    );
    await rowOf(page, 'Emma').locator('.title').focus();
    await page.keyboard.press('Delete');
    await waitForCount(page, '42 books');
    await page.clock.runFor(AFTER_UNDO_MS);
    await page.getByText('“Emma” could not be deleted.').waitFor();
    await rowOf(page, 'Emma').waitFor();
  });
});
