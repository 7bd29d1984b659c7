import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BookFields } from '../../client/index.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { Relay } from '../../testkit/relay.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { KEYS, missingPrograms, WebKit } from '../../testkit/webkit.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';

const { ArrowDown, Control, Delete, End, Enter, Escape, F2, Insert, Shift, Tab } = KEYS;
const skip = missingPrograms().length > 0 && `${missingPrograms().join(' and ')} not on the path`;

/** Whether the text of the first element of a selector has a part. */
const has = (selector: string, part: string) =>
  `document.querySelector('${selector}')?.innerText.includes(${JSON.stringify(part)})`;

/** Opens the console, and signs in. */
async function openConsole(page: WebKit, url: string): Promise<void> {
  await page.open(`${url}/console/`);
  await page.waitUntil(`document.querySelector('[name=username]') !== null`);
  await page.evaluate(`(() => {
    window.messages = [];
    console.error = console.warn = (...parts) => messages.push(parts.join(' '));
    for (const type of ['error', 'unhandledrejection', 'securitypolicyviolation'])
      addEventListener(type, ({ message, reason, violatedDirective }) => messages.push(String(message ?? reason ?? violatedDirective)));
  })()`);
  await signIn(page);
  await page.waitUntil(
    `document.querySelector('.count')?.innerText.match(/[0-9]+ books/) && document.querySelector('#menu') !== null`,
  );
}

async function signIn(page: WebKit): Promise<void> {
  await page.fill('[name=username]', USERNAME);
  await page.fill('[name=password]', PASSWORD);
  await page.click('[type=submit]');
}

/** Goes to the cell for the title of a new book. */
async function goToNewBook(page: WebKit): Promise<void> {
  await page.click('[data-index="0"] .title');
  await page.press(Control, End);
  await page.press(ArrowDown);
  await page.waitUntil(`document.activeElement.matches('.new .title')`);
}

/** The stored books after the first ones, without those of another user. */
async function added(service: Service, first: number): Promise<BookFields[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: BookFields[] };
  return data
    .slice(first)
    .filter(({ title }) => title !== 'Other')
    .map(({ title, author, year }) => ({ title, author, year }));
}

test('In WebKit, a user searches, edits, adds, deletes and undoes with the keyboard, and the page logs no error', {
  skip,
}, async () => {
  await using service = await startService({ hasHistory: true });
  await store(service, CLASSICS);
  await using page = await WebKit.start();
  await openConsole(page, service.url);
  await page.waitUntil(has('.count', '43 books'));

  // A cell, and its undo.
  await page.click('[data-index="9"] .year');
  await page.type('1816');
  await page.press(Enter);
  await page.waitUntil(has('.toasts', 'Changed: “Emma”'));
  await page.press(Control, 'z');
  await page.waitUntil(has('.toasts', 'Change undone: “Emma”'));
  assert.equal((await findBook(service, 10))?.year, 1815);
  await page.press(F2);
  await page.waitUntil(`document.activeElement.matches('.cell-editor')`);
  await page.press(Escape);
  await page.waitUntil(`document.activeElement.matches('[data-index="9"] .year')`);
  await page.click('[data-index="9"] [type=checkbox]');
  await page.press(Delete);
  await page.waitUntil(has('.toasts', 'Deleted: “Emma”'));
  await page.press(Control, 'z');
  await page.waitUntil(has('[role=row]:focus-within', 'Emma'));

  // A new book, and a dialog that is left.
  await page.press(Insert);
  await page.waitUntil(`document.activeElement.name === 'title'`);
  await page.type('Orlando');
  for (const text of ['Woolf', '1928']) {
    await page.press(Tab);
    await page.type(text);
  }
  await page.press(Enter);
  await page.waitUntil(has('.count', '44 books'));
  assert.deepEqual(await findBook(service, 44), { id: 44, title: 'Orlando', author: 'Woolf', year: 1928 });
  await page.click('[data-index="42"] .id a');
  await page.waitUntil(`document.activeElement.name === 'title'`);
  await page.type('x');
  await page.press(Escape);
  await page.waitUntil(has('.leaving', 'Discard your changes?'));
  await page.click('.leaving .danger');
  await page.waitUntil(`document.querySelector('dialog') === null`);

  await page.press(Control, 'k');
  await page.type('/w');
  await page.press(Enter);
  await page.waitUntil(has('[role=row]:focus-within', 'Walden'));
  await page.press(Shift, Tab);
  await page.waitUntil(`document.activeElement.matches('.head *')`);
  await page.press(Tab);
  await page.waitUntil(has('[role=row]:focus-within', 'Walden'));
  assert.deepEqual(await page.evaluate('messages'), []);
});

const PAPER_LIST: readonly BookFields[] = [
  { title: 'Orlando', author: 'Woolf', year: 1928 },
  { title: 'Flush', author: 'Woolf', year: 1933 },
];

test('In WebKit, books typed at 50, 150 and 300 ms a key are stored once, with slow responses and another writer', {
  skip,
}, async () => {
  await using service = await startService({ hasHistory: true });
  const shelf = CLASSICS.slice(0, 5);
  await store(service, shelf);
  await using page = await WebKit.start();
  await openConsole(page, service.url);
  await page.evaluate(`(() => {
    const { fetch } = window;
    window.fetch = async (...call) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return fetch(...call);
    };
  })()`);
  await goToNewBook(page);
  const typing = new AbortController();
  const other = (async () => {
    for (let year = 1; !typing.signal.aborted; year++) {
      await service.fetch('POST', '/book', JSON.stringify({ title: 'Other', author: 'Other', year }));
      await page.waitUntil(has('.rows', 'Other'));
    }
  })();
  const expected: BookFields[] = [];
  for (const keyMs of [50, 150, 300])
    for (const book of PAPER_LIST) {
      await page.type(`${book.title}${Tab}${book.author}${Enter}${book.year}${Enter}`, keyMs);
      expected.push(book);
    }
  typing.abort();
  await other;
  await assertEventually(() => added(service, shelf.length), expected);
  await page.waitUntil(`document.activeElement.matches('.new .title')`);
  assert.deepEqual(await page.evaluate('messages'), []);
});

test('In WebKit, what is half typed stays while the token is renewed, and when the session expires', {
  skip,
}, async () => {
  let clockOffset = 0;
  await using service = await startService({ now: () => Date.now() + clockOffset });
  const shelf = CLASSICS.slice(0, 5);
  await store(service, shelf);
  await using relay = await Relay.open(service.port);
  await using page = await WebKit.start();
  await openConsole(page, `http://localhost:${relay.port}`);
  // A token that is soon renewed: 90 s before it expires.
  await page.evaluate(
    `sessionStorage.token = JSON.stringify({ ...JSON.parse(sessionStorage.token), expiresAt: Date.now() + 93_000 })`,
  );
  const token = await page.evaluate<string>('JSON.parse(sessionStorage.token).text');
  await page.open(`http://localhost:${relay.port}/console/`);
  await page.waitUntil(has('.count', '5 books'));
  await goToNewBook(page);
  await page.type('Orl');
  await page.waitUntil(`JSON.parse(sessionStorage.token).text !== '${token}'`);
  await page.type('ando');
  relay.stall();
  await page.type(`${Enter}${Enter}${Enter}Fl`);
  clockOffset = 16 * 60_000;
  relay.resume();
  await page.waitUntil(has('dialog', 'Please sign in again'));
  await signIn(page);
  await page.waitUntil(`document.activeElement.matches('.new textarea')`);
  await page.type('ush');
  assert.equal(await page.evaluate('document.activeElement.value'), 'Flush');
  await page.waitUntil(has('.count', '6 books'));
  // The token of the test is valid again.
  clockOffset = 0;
  assert.deepEqual(await added(service, shelf.length), [{ title: 'Orlando', author: '', year: 0 }]);
});

test('In WebKit, a range of cells is selected with the keyboard, filled down, and undone', {
  skip,
}, async () => {
  await using service = await startService();
  await store(service, CLASSICS);
  await using page = await WebKit.start();
  await openConsole(page, service.url);
  const years = async () => (await added(service, 0)).slice(0, 6).map(({ year }) => year);
  const stored = await years();
  await page.click('[data-index="0"] .year');
  await page.type(`1234${Enter}`);
  await page.waitUntil(has('.toasts', 'Changed: “The Iliad”'));
  await page.click('[data-index="0"] .year');
  for (let rows = 0; rows < 4; rows++) await page.press(Shift, ArrowDown);
  await page.waitUntil(`document.querySelectorAll('[role=gridcell][aria-selected=true]').length === 5`);
  await page.press(Control, 'd');
  await page.waitUntil(has('.toasts', 'Changed: 4 books'));
  assert.deepEqual(await years(), [1234, 1234, 1234, 1234, 1234, stored[5]]);
  await page.press(Control, 'z');
  await page.waitUntil(has('.toasts', 'Change undone: 4 books'));
  assert.deepEqual(await years(), [1234, ...stored.slice(1)]);
});
