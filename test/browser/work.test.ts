import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertEventually } from '../../testkit/eventually.ts';
import { CLASSICS, findBook } from '../console/books.ts';
import {
  assertAccessible,
  button,
  ConsolePages,
  deleteBook,
  failedRequests,
  field,
  focusedRow,
  noDialog,
  openBook,
  rowOf,
  SEARCHES_AFTER_WRITES,
  waitForCount,
} from './console-pages.ts';

/** The id of a book, by its position in the list. */
const idOf = (title: string) => 1 + CLASSICS.findIndex((book) => book.title === title);
const EMMA = idOf('Emma');

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('With a history, a deleted book returns under its number, with the focus', async (context) => {
  const { page, service } = (await pages.openConsole(context, {}, { hasHistory: true })) ?? {};
  if (!page || !service) return;
  await deleteBook(page, 'Emma');
  await focusedRow(page, 'Frankenstein').waitFor();
  await page.keyboard.press('ControlOrMeta+Z');
  await focusedRow(page, 'Emma').waitFor();
  assert.equal((await findBook(service, EMMA))?.title, 'Emma');
  await page.keyboard.press('ControlOrMeta+Y');
  await focusedRow(page, 'Frankenstein').waitFor();
  assert.equal(await findBook(service, EMMA), undefined);
});

test('What is cancelled is discarded, after a question; the back button asks, too', async (context) => {
  const { page, service } = (await pages.openConsole(context)) ?? {};
  if (!page || !service) return;
  const [title, question] = [
    field(page, 'Title'),
    page.getByRole('alertdialog', { name: 'Discard your changes?' }),
  ];
  await openBook(page, 'Emma');
  await title.fill('Rejected');
  await page.keyboard.press('Escape');
  await question.waitFor();
  await assertAccessible(page, 'question');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await page.locator('dialog [name=title]:focus').waitFor();
  await button(page, 'Cancel').click();
  await button(page, 'Discard').click();
  await noDialog(page);
  await openBook(page, 'Emma');
  assert.equal(await title.inputValue(), 'Emma');
  await title.fill('Rejected');
  await page.goBack();
  await question.waitFor();
  assert.match(page.url(), /book=10$/);
  await button(page, 'Discard').click();
  await noDialog(page);
  // Going back takes the browser longer than closing the dialog.
  await page.waitForURL((url) => !url.searchParams.has('book'));
  await openBook(page, 'Emma');
  await page.goBack();
  await noDialog(page);
  assert.equal((await findBook(service, EMMA))?.title, 'Emma');
});

test('What the user opens or searches directly after closing a book stays, also while the browser still goes back', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  // As on a slow machine, only after what follows.
  await page.evaluate('history.back = () => (window.goBack = () => History.prototype.back.call(history))');
  const title = field(page, 'Title');
  for (const [book, next] of [
    ['Emma', 'Persuasion'],
    ['Dracula', 'Walden'],
  ] as const) {
    await openBook(page, book);
    await title.waitFor();
    await page.keyboard.press('Escape');
    await noDialog(page);
    await openBook(page, next);
    await title.waitFor();
    await page.evaluate('goBack()');
    await page.waitForURL(new RegExp(`[?]book=${idOf(next)}$`));
    assert.equal(await title.inputValue(), next);
    await page.keyboard.press('Escape');
    await noDialog(page);
    await page.evaluate('goBack()');
    await page.waitForURL(/console[/]$/);
  }
  await openBook(page, 'Emma');
  await title.waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
  await page.getByRole('searchbox').fill('austen');
  await waitForCount(page, '4 books');
  // Opened and closed once more before the browser is there.
  await openBook(page, 'Persuasion');
  await title.waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
  await page.evaluate('goBack()');
  await page.waitForURL(new RegExp(`[?]q=austen&book=${idOf('Persuasion')}$`));
  await page.evaluate('goBack()');
  await page.waitForURL(/[?]q=austen$/);
  await waitForCount(page, '4 books');
  assert.equal(await page.getByRole('searchbox').inputValue(), 'austen');
  await page.goBack();
  await waitForCount(page, '43 books');
});

test('All functions can be used with the keyboard, and no letter alone is a command', async (context) => {
  const { page, service } = (await pages.openConsole(context, SEARCHES_AFTER_WRITES)) ?? {};
  if (!page || !service) return;
  await page.keyboard.press('Tab');
  await page.locator('.skip:focus').waitFor();
  await page.keyboard.press('Enter');
  await focusedRow(page, 'The Iliad').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.locator('.head :focus').waitFor();
  await page.keyboard.press('Tab');
  await focusedRow(page, 'The Iliad').waitFor();
  await page.keyboard.press('ControlOrMeta+K');
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
    await focusedRow(page, title).waitFor();
  }
  await page.keyboard.press('ArrowLeft');
  for (const key of ['n', 'g', '/', '?']) await page.keyboard.press(key);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.keyboard.press('Enter');
  await page.locator('dialog [name=title]:focus').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('1816');
  await page.keyboard.press('Enter');
  await noDialog(page);
  await focusedRow(page, 'Emma').waitFor();
  assert.equal((await findBook(service, EMMA))?.year, 1816);
  await page.keyboard.press('Insert');
  await page.locator('dialog [name=title]:focus').waitFor();
  await page.keyboard.type('Austen 1');
  for (let fields = 0; fields < 3; fields++) await page.keyboard.press('Enter');
  await noDialog(page);
  await waitForCount(page, '5 books');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForCount(page, '4 books');
  await page.keyboard.press('Control+/');
  await page.getByText('Undo or redo the last change', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await noDialog(page);
});

test('A user edits the same field as another user, and chooses a version; changes to other fields are kept', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(412) })) ?? {};
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
  const versions = await page.getByRole('dialog').locator('thead th, tbody td').allInnerTexts();
  assert.deepEqual(versions.slice(0, 2), ['Your version', 'Saved version']);
  assert.deepEqual(versions.slice(2), ['Emma II', 'Emma II', 'J. A.', 'J. A.', '1816', '1800']);
  assert.equal(await page.getByText('differs').count(), 1);
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
  await page.getByText('The service is not available at the moment.').waitFor();
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

test('A deletion of a book that another user has changed is not done; one that fails can be tried again', async (context) => {
  const { page, service } =
    (await pages.openConsole(context, { expectedMessages: failedRequests(412, 500) })) ?? {};
  if (!page || !service) return;
  await service.fetch('PUT', `/book/${EMMA}`, '{"year":1900}');
  await rowOf(page, 'Emma').getByRole('checkbox').click();
  await page.keyboard.press('Delete');
  await page.getByText('“Emma” was changed by another user.').waitFor();
  await rowOf(page, 'Emma').getByText('1900').waitFor();
  await page.keyboard.press('Escape');
  await page.route('**/books', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } })
      : route.continue(),
  );
  await rowOf(page, 'The Iliad').getByRole('checkbox').click();
  await page.keyboard.press('Delete');
  // Stays until it is closed.
  await page.locator('.toast').getByText('Not saved yet.').waitFor();
  await waitForCount(page, '43 books');
  await page.unroute('**/books');
  await button(page, 'Try again').click();
  await waitForCount(page, '42 books');
});

test('A toast closes by itself, but not while the pointer is in it', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  await deleteBook(page, 'Emma');
  const toast = (expression: string) =>
    page.evaluate(
      `document.getAnimations().find(({ animationName }) => animationName === 'toast')?.${expression}`,
    );
  await page.locator('.toast').hover();
  await assertEventually(() => toast('playState'), 'paused');
  await page.mouse.move(0, 0);
  await assertEventually(() => toast('playState'), 'running');
  await toast('finish()');
  await page.locator('.toast').waitFor({ state: 'detached' });
});
