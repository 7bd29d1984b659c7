import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient } from '../../client/index.ts';
import { FIELD_NAMES } from '../../src/book/contract.ts';
import { assertEventually } from '../../testkit/eventually.ts';
import { createFolder } from '../../testkit/folder.ts';
import { Relay } from '../../testkit/relay.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { ServiceProcess } from '../../testkit/service-process.ts';
import { CLASSICS, manyBooks, store } from '../console/books.ts';
import {
  assertAccessible,
  ConsolePages,
  chooseInMenu,
  failedRequests,
  noDialog,
  rowOf,
  signIn,
  waitForCount,
} from './console-pages.ts';

/** A German spreadsheet with four books and three invalid rows. */
const SPREADSHEET = [
  'Titel;Autor;Jahr;Regal',
  'Effi Briest;Theodor Fontane;1895;A1',
  'Emma;Jane Austen;um 1815;A1',
  '<img src=x onerror=alert(1)>;;1900.0;',
  'Woyzeck;Georg Büchner',
  '"=1+1 ";"Unbekannt";-750;"zwei',
  'Zeilen"',
  'Der Stechlin;Theodor Fontane;1897.75;B2',
  'Faust;Johann Wolfgang von Goethe;;B3',
].join('\r\n');

let pages: ConsolePages;
before(async () => {
  pages = await ConsolePages.start();
});
after(() => pages[Symbol.asyncDispose]());

test('The import of a spreadsheet shows the invalid rows, and stores the others', async (context) => {
  const service = await startService();
  const page = await pages.openSignedIn(context, service, '', { service });
  if (!page) return;
  await chooseInMenu(page, 'Import');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  await dialog.getByText('Drop a file here, or choose one.').waitFor();
  await choose(page, dialog, 'Bücher.csv', SPREADSHEET);

  await dialog.getByText('4 books can be imported.').waitFor();
  await dialog.getByText('3 rows are invalid and will be left out.').waitFor();
  for (const [field, column] of [
    ['Title', 'Titel'],
    ['Author', 'Autor'],
    ['Year', 'Jahr'],
  ] as const) {
    assert.equal(await dialog.getByRole('combobox', { name: field }).inputValue(), column);
  }
  await assertRows(dialog, [
    '2|Effi Briest|Theodor Fontane|1895',
    '3|The year cannot be read: “um 1815”',
    '4|<img src=x onerror=alert(1)>|(no author)|1900',
    '5|The row has 2 cells, and the first row 4.',
    '6|=1+1 |Unbekannt|750 BC',
  ]);
  const widths = await page.evaluate(
    "[...document.querySelectorAll('.preview tr')].map(({ cells }) => [...cells].reduce((sum, { colSpan }) => sum + colSpan, 0))",
  );
  assert.deepEqual(widths, Array(6).fill(1 + FIELD_NAMES.length), 'each row is as wide as the head');
  await dialog.getByText('Show the invalid rows').click();
  await dialog.getByText('The year cannot be read: “1897.75”').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);

  const unread = dialog.getByLabel('Import the 2 rows whose year cannot be read, without a year');
  await unread.check();
  await dialog.getByText('6 books can be imported. 1 row is invalid and will be left out.').waitFor();
  await assertEventually(async () => (await rowsOf(dialog))[1], '3|Emma|Jane Austen|');
  await unread.uncheck();
  await dialog.getByText('4 books can be imported.').waitFor();
  await dialog.getByRole('button', { name: 'Import 4 books' }).click();
  await dialog.getByText('4 books are stored.').waitFor();
  await dialog.getByText('3 rows were left out.').waitFor();
  await assertAccessible(page, 'import result');
  await dialog.getByRole('button', { name: 'Show the newest' }).click();
  await waitForCount(page, '4 books');
  assert.deepEqual(await booksOf(service), [
    ['Effi Briest', 'Theodor Fontane', 1895],
    ['<img src=x onerror=alert(1)>', '', 1900],
    ['=1+1 ', 'Unbekannt', -750],
    ['Faust', 'Johann Wolfgang von Goethe', 0],
  ]);
});

describe('A file', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service[Symbol.asyncDispose]());

  test('in JSON or NDJSON can be dropped on the page, and its columns be mapped, in German', async (context) => {
    const page = await pages.open(context, `${service.url}/console/`, {
      locale: 'de-DE',
      colorScheme: 'dark',
    });
    if (!page) return;
    await page.getByLabel('Benutzername').fill(USERNAME);
    await page.getByLabel('Passwort').fill(PASSWORD);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    const dialog = page.getByRole('dialog', { name: 'Bücher importieren' });

    await drop(page, { 'a.ndjson': '{"Name":"Emma","wer":"Jane Austen","Jahr":1815}\n{"Name":true}\n[]\n' });
    await dialog.getByText('1 Buch kann importiert werden.').waitFor();
    assert.equal(await dialog.getByLabel('Autor').inputValue(), '');
    await dialog.getByLabel('Autor').selectOption('wer');
    await assertRows(dialog, [
      '1|Emma|Jane Austen|1815',
      '2|Der Inhalt von „Titel“ ist kein Text, der gespeichert werden kann.',
      '3|Das ist kein Objekt mit Titel, Autor und Jahr.',
    ]);
    await dialog.getByRole('button', { name: '1 Buch importieren' }).click();
    await dialog.getByText('1 Buch ist gespeichert.').waitFor();

    await drop(page, { 'b.json': '[{"title":"Faust","year":1808},\n{"title":"Woyzeck","year":"um 1836"}]' });
    await dialog.getByRole('button', { name: '1 Buch importieren' }).click();
    await dialog.getByText('1 Zeile wurde ausgelassen.').waitFor();
    await dialog.getByRole('button', { name: 'Schließen' }).click();
    assert.deepEqual(await booksOf(service), [
      ['Emma', 'Jane Austen', 1815],
      ['Faust', '', 1808],
    ]);
  });

  test('that cannot be read is reported, and another one can be chosen, with or without a header', async (context) => {
    const page = await pages.openSignedIn(context, service);
    if (!page) return;
    const dialog = page.getByRole('dialog', { name: 'Import books' });
    for (const [files, problem] of [
      [{ 'a.xlsx': 'PK\u0003\u0004 xl/workbook.xml' }, 'This is a spreadsheet workbook.'],
      [{ 'a.zip': 'PK\u0003\u0004' }, 'This file is packed (ZIP).'],
      [{ 'a.xls': '<html><table>' }, 'This file is HTML, which has no table that can be read.'],
      [{ 'a.csv': 'title,year\n' }, 'There are no books in this file.'],
      [{ 'a.json': '"title"' }, 'does not begin with an array or an object'],
      [{ 'a.csv': 'title\nEmma', 'b.csv': 'title\nFaust' }, 'Import one file at a time.'],
    ] as const) {
      await drop(page, files);
      await dialog.getByText(problem).waitFor();
    }
    await assertAccessible(page, 'unreadable file');
    await choose(page, dialog, 'a.csv', 'name,when\nEmma,1815\n');
    await dialog.getByRole('button', { name: 'Import 1 book' }).waitFor();
    await dialog.getByLabel('Year').selectOption('name');
    await dialog.getByText('No row of this file can be imported.').waitFor();

    await drop(page, { 'a.csv': 'Emma;J. Austen;1815' });
    await dialog.getByRole('button', { name: 'Import 1 book' }).waitFor();
    await drop(page, { 'a.csv': 'Emma;J. Austen;1815\nFaust;Goethe;1808\n' });
    await dialog.getByRole('button', { name: 'Import 2 books' }).waitFor();
    await assertRows(dialog, ['1|Emma|J. Austen|1815', '2|Faust|Goethe|1808']);
    await dialog.getByLabel('The first row contains column names').check();
    await dialog.getByLabel('Title').selectOption('Emma');
    await dialog.getByRole('button', { name: 'Import 1 book' }).waitFor();
    await assertRows(dialog, ['2|Faust|(no author)|']);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('that is dropped while a book is edited is ignored', async (context) => {
    const page = await pages.openSignedIn(context, service);
    if (!page) return;
    await page.getByRole('button', { name: 'Add a book' }).first().click();
    const title = page.getByRole('dialog').getByLabel('Title');
    await title.fill('Typed');
    await drop(page, { 'a.csv': 'title\nEmma' });
    assert.equal(await title.inputValue(), 'Typed');
    assert.equal(await page.getByRole('dialog', { name: 'Import books' }).count(), 0);
  });

  test('can be imported in two parts, the second one with another token', async (context) => {
    let now = Date.now();
    const other = await startService({ now: () => now });
    const page = await pages.open(context, `${other.url}/console/`, {
      service: other,
      expectedMessages: failedRequests(401),
    });
    if (!page) return;
    await signIn(page);
    const dialog = page.getByRole('dialog', { name: 'Import books' });
    let batches = 0;
    const held = Promise.withResolvers<void>();
    await page.route('**/books', async (route) => {
      if (++batches === 2) await held.promise;
      await route.continue();
    });
    await drop(page, { 'a.csv': numbered(3_000) });
    await dialog.getByRole('button', { name: 'Import 3,000 books' }).click();
    await dialog.getByText(/^1,000 of 3,000 books/).waitFor();
    await assertAccessible(page, 'import in progress');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Stop' }).click();
    held.resolve();
    await dialog.getByText('Stopped: 2,000 of 3,000 books are stored.').waitFor();
    now += 16 * 60_000;
    // Another request of the page may require the sign-in before, whose dialog is then over the button.
    await dialog.getByRole('button', { name: 'Continue' }).dispatchEvent('click');
    await page.getByRole('dialog', { name: 'Please sign in again' }).waitFor();
    await signIn(page);
    await dialog.getByText('3,000 books are stored.').waitFor();
    await assertNumbered(other.url, 3_000);
  });
});

test('An import skips existing books, and its undo keeps books that have been changed since', async (context) => {
  const service = await startService();
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(404, 412, 500),
  });
  if (!page) return;
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const first = 'title,author,year\nEmma,Jane Austen,1815\nFaust,Goethe,1808\n';
  await drop(page, { 'a.csv': first });
  await dialog.getByRole('button', { name: 'Import 2 books' }).click();
  await dialog.getByText('2 books are stored.').waitFor();

  await drop(page, { 'a.csv': first });
  await dialog
    .getByText('2 books exist already (same title, author and year) and will be skipped.')
    .waitFor();
  const none = dialog.getByRole('button', { name: 'Import 0 books' });
  assert.equal(await none.getAttribute('aria-disabled'), 'true');
  await assertAccessible(page, 'all books exist');
  await dialog.getByLabel('Skip books that already exist').uncheck();
  await dialog.getByRole('button', { name: 'Import 2 books' }).waitFor();

  // A different year makes a different book; of the two equal books, one exists.
  await drop(page, {
    'b.csv': `${first}Emma,Jane Austen,1815\nFaust,Goethe,1832\nWoyzeck,Georg Büchner,1879\n`,
  });
  await dialog
    .getByText('2 books exist already (same title, author and year) and will be skipped.')
    .waitFor();
  await dialog.getByRole('button', { name: 'Import 3 books' }).click();
  await dialog.getByText('3 books are stored.').waitFor();
  await dialog.getByText('2 books already existed and were skipped.').waitFor();
  const stored = [
    ['Emma', 'Jane Austen', 1815],
    ['Faust', 'Goethe', 1808],
    ['Emma', 'Jane Austen', 1815],
    ['Faust', 'Goethe', 1832],
    ['Woyzeck', 'Georg Büchner', 1879],
  ];
  assert.deepEqual(await booksOf(service), stored);

  await service.fetch('PUT', '/book/4', '{"title":"Faust II"}');
  await dialog.getByRole('button', { name: 'Undo the import' }).click();
  await page.getByText('Import undone: 2 books “Faust” was changed by another user.').waitFor();
  assert.deepEqual(await booksOf(service), [...stored.slice(0, 2), ['Faust II', 'Goethe', 1832]]);
  await rowOf(page, 'Faust II').waitFor();
  await waitForCount(page, '3 books');
});

test('A corrected export of 10,000 books updates 50 of them, which is one line of the history and can be undone', async (context) => {
  const service = await startService({ hasHistory: true });
  const books = manyBooks(10_000);
  await store(service, books);
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(412),
  });
  if (!page) return;
  await waitForCount(page, '10,000 books');
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const yearOf = (index: number) => (books[index]?.year ?? 0) + (index % 200 === 0 ? 1 : 0);
  const rows = books.map(
    ({ title, author }, index) => `${index + 1},${title},"${author}",${yearOf(index)}\r\n`,
  );
  const corrected = `id,title,author,year\r\n${rows.join('')}`;
  await drop(page, { 'books.csv': corrected });
  await dialog.getByText('Update 50, add 0, unchanged 9,950').waitFor();
  await dialog.getByText('Where a book was changed since the file was exported, the file wins.').waitFor();
  await dialog.getByText('Show the changes').click();
  const changes = dialog.getByRole('list', { name: 'Changes' }).getByRole('listitem');
  assert.deepEqual(
    [await changes.count(), await changes.nth(1).innerText()],
    [50, 'Line 202 “Volume 201” Year 1800 → 1801'],
  );
  await assertAccessible(page, 'update');

  // Another user changes one of the books, and a field of another book that the file leaves alone.
  await service.fetch('PATCH', '/books', '[{"id":201,"year":1900},{"id":401,"author":"N. N."}]');
  requests.length = 0;
  await dialog.getByRole('button', { name: 'Update 50, add 0' }).click();
  await dialog.getByText('49 books are updated, 0 added.').waitFor();
  await dialog.getByText('1 book was not changed.').waitFor();
  await dialog.getByText('Line 202 “Volume 201” was changed by another user.').waitFor();
  assert.ok(requests.every((request) => request === 'PATCH /books'));
  await assertAccessible(page, 'update result');
  const stored = await booksOf(service);
  const expected = books.map(({ title, author }, index) => [title, author, yearOf(index)]);
  expected[200] = ['Volume 201', books[200]?.author ?? '', 1900];
  expected[400] = ['Volume 401', 'N. N.', 1801];
  assert.deepEqual(stored, expected);

  // Again: nothing is left but the conflict, and the other user's author, which the file would overwrite.
  await drop(page, { 'books.csv': corrected });
  await dialog.getByText('Update 2, add 0, unchanged 9,998').waitFor();
  await page.keyboard.press('Escape');
  await chooseInMenu(page, 'History');
  const lines = page.locator('.history .day > li');
  await lines.nth(2).waitFor();
  const [own = '', ...earlier] = await lines.allInnerTexts();
  assert.match(own, /^Changed: 49 books/);
  assert.ok(earlier.every((line) => !line.startsWith('Changed: 49 books')));
  await page.keyboard.press('Escape');
  await noDialog(page);
  await page.keyboard.press('ControlOrMeta+Z');
  await page.getByText('Import undone: 49 books').waitFor();
  assert.deepEqual((await booksOf(service))[0], ['Volume 1', books[0]?.author, 1800]);
  await page.keyboard.press('ControlOrMeta+Y');
  await page.getByText('Imported: 49 books').waitFor();
  assert.deepEqual(await booksOf(service), stored);
});

test('A file with numbers adds rows without one, leaves out those of deleted books, and waits for the service', async (context) => {
  const service = await startService();
  await store(service, CLASSICS.slice(0, 3));
  await service.fetch('DELETE', '/book/3');
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(503),
  });
  if (!page) return;
  await waitForCount(page, '2 books');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const rows = [
    '1,-751,The Iliad',
    '3,180,Meditations',
    ',1759,Candide',
    '2,,',
    '1,5,Again',
    ',-751,The Iliad',
  ];
  await drop(page, { 'a.csv': `ID,year,title\n${rows.join('\n')}\n` });
  await dialog.getByText('Update 2, add 2, unchanged 0 2 rows are invalid and will be left out.').waitFor();
  await dialog.getByText('Show the invalid rows').click();
  await dialog.getByText('Line 3 No book has the number 3: it was deleted').waitFor();
  await dialog.getByText('Line 6 An earlier row has the number 1.').waitFor();
  const unavailable = { status: 503, message: 'Service unavailable', data: null };
  await page.route('**/books', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 503, headers: { 'Retry-After': '1' }, json: unavailable })
      : route.continue(),
  );
  await dialog.getByRole('button', { name: 'Update 2, add 2' }).click();
  await dialog.getByText('The service does not respond. The import waits').waitFor();
  await page.unroute('**/books');
  await dialog.getByText('2 books are updated, 2 added.').waitFor();
  assert.deepEqual(await booksOf(service), [
    ['The Iliad', 'Homer', -751],
    ['', 'Homer', 0],
    ['Candide', '', 1759],
    ['The Iliad', '', -751],
  ]);
  await dialog.getByRole('button', { name: 'Undo the import' }).click();
  await waitForCount(page, '2 books');
  assert.deepEqual(
    await booksOf(service),
    CLASSICS.slice(0, 2).map(({ title, author, year }) => [title, author, year]),
  );
});

test('Members of JSON that first occur behind its first thousand objects change books, unless they are not chosen', async (context) => {
  const service = await startService();
  const books = manyBooks(1_200);
  await store(service, books);
  const page = await pages.openSignedIn(context, service, '', { service });
  if (!page) return;
  await waitForCount(page, '1,200 books');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const years = books.slice(0, -1).map(({ year }, index) => `{"id":${index + 1},"year":${year + 1}}\n`);
  await drop(page, { 'a.ndjson': `${years.join('')}{"id":1200,"title":"Last"}\n` });
  await dialog.getByText('Update 1,200, add 0, unchanged 0').waitFor();
  const title = dialog.getByRole('combobox', { name: 'Title' });
  assert.equal(await title.inputValue(), 'title');
  await title.selectOption('');
  await dialog.getByText('Update 1,199, add 0, unchanged 1').waitFor();
  await dialog.getByRole('button', { name: 'Update 1,199, add 0' }).click();
  await dialog.getByText('1,199 books are updated, 0 added.').waitFor();
  const stored = await booksOf(service);
  assert.deepEqual(stored[0], [books[0]?.title, books[0]?.author, (books[0]?.year ?? 0) + 1]);
  assert.deepEqual(stored[1_199], [books[1_199]?.title, books[1_199]?.author, books[1_199]?.year]);
});

test('Numbers of another program are no reason to update books, and rows that look like changed books are counted', async (context) => {
  const service = await startService();
  await store(service, CLASSICS.slice(0, 3));
  const page = await pages.openSignedIn(context, service, '', { service });
  if (!page) return;
  await waitForCount(page, '3 books');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const note = dialog.getByText(
    '1 row looks like a changed book: a stored one has the same title and author.',
  );
  await drop(page, {
    'calibre.csv':
      'id,title,author,pubdate\n1,Emma,Jane Austen,20190305\n2,Meditations,MARCUS AURELIUS,170\n',
  });
  await dialog.getByText('2 books can be imported.').waitFor();
  await note.waitFor();
  assert.equal(await dialog.getByLabel('Update the books with the numbers of the file').count(), 0);
  assert.equal((await rowsOf(dialog))[0], '2|Emma|Jane Austen|2019');

  await drop(page, { 'a.csv': 'id,title,author,year\n1,The Iliad,Homer,-751\n2,The Odyssey,Homer,-725\n' });
  await dialog.getByText('Update 1, add 0, unchanged 1').waitFor();
  await dialog.getByLabel('Import all rows as new books').check();
  await note.waitFor();
  await dialog.getByRole('button', { name: 'Import 1 book' }).waitFor();
  await dialog.getByLabel('Update the books with the numbers of the file').check();
  await dialog.getByRole('button', { name: 'Update 1, add 0' }).click();
  await dialog.getByText('1 book is updated, 0 added.').waitFor();
  assert.equal((await booksOf(service)).length, 3);
});

test('Books with neither title nor author are imported after a warning', async (context) => {
  const { page } = (await pages.openConsole(context)) ?? {};
  if (!page) return;
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  await drop(page, { 'a.csv': 'title,author,year\nEmma,,\n,,1808\n , ,x\n' });
  await dialog.getByText('1 book has neither a title nor an author, only a year.').waitFor();
  await dialog.getByRole('button', { name: 'Import 2 books' }).click();
  await dialog.getByText('2 books are stored.').waitFor();
});

test('An import that cannot search for existing books reports the error, and can store all books', async (context) => {
  const service = await startService();
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(500),
  });
  if (!page) return;
  await waitForCount(page, '0 books');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  await page.route('**/books?*limit=1000*', (route) =>
    route.fulfill({ status: 500, json: { status: 500, message: 'Internal server error', data: null } }),
  );
  await drop(page, { 'a.csv': 'title\nEmma\n' });
  await dialog.getByText('The search for existing books failed. An error occurred').waitFor();
  await page.unroute('**/books?*limit=1000*');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByText('The search for existing books failed').waitFor({ state: 'detached' });
  await dialog.getByLabel('Skip books that already exist').uncheck();
  await dialog.getByRole('button', { name: 'Import 1 book' }).click();
  await dialog.getByText('1 book is stored.').waitFor();
});

test('An import finds existing books also while the service cannot count them, without their part', async (context) => {
  const service = await startService();
  await store(service, CLASSICS);
  const page = await pages.openSignedIn(context, service, '', {
    service,
    expectedMessages: failedRequests(503),
  });
  if (!page) return;
  await waitForCount(page, '43 books');
  const dialog = page.getByRole('dialog', { name: 'Import books' });
  const rejected = page.waitForResponse((response) => response.status() === 503);
  await page.route('**/books?*count=true*', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'Preparing', data: null } }),
  );
  await drop(page, { 'a.csv': 'title,author,year\nEmma,Jane Austen,1815\nFaust,,1808\n' });
  await dialog.getByRole('button', { name: 'Import 1 book' }).waitFor();
  await rejected;
  assert.equal(await dialog.getByText('The search for existing books failed').count(), 0);
});

test('An import waits while the service is down, and stores each book once', async (context) => {
  await using folder = await createFolder();
  const variables = { AUTH_USERNAME: USERNAME, AUTH_PASSWORD: PASSWORD };
  const start = () => new ServiceProcess(folder.path, variables).listening();
  let service = await start();
  await using relay = await Relay.open(service.port);
  const restart = async () => {
    await service[Symbol.asyncDispose]();
    service = await start();
    relay.target = service.port;
  };
  try {
    const page = await pages.open(context, `http://localhost:${relay.port}/console/`, {
      expectedMessages: failedRequests(503),
    });
    if (!page) return;
    await page.clock.install();
    await signIn(page);
    const dialog = page.getByRole('dialog', { name: 'Import books' });
    const keys = new Set<string | undefined>();
    const stop = () => {
      void service[Symbol.asyncDispose]();
      return 0;
    };
    // The response to batch 3 and the request of batch 6 are lost.
    let losesResponse = false;
    relay.truncate = (piece) => {
      const text = piece.toString('latin1');
      const [, key] = /^POST [/]books .*^idempotency-key: (\S+)/ims.exec(text) ?? [];
      const isFirst = key !== undefined && !keys.has(key);
      if (isFirst) keys.add(key);
      if (isFirst && keys.size === 3) losesResponse = true;
      const isLost = losesResponse ? /^HTTP[/]1.1 201/.test(text) : isFirst && keys.size === 6;
      if (!isLost) return undefined;
      losesResponse = false;
      return stop();
    };
    await drop(page, { 'a.csv': numbered(7_000) });
    await dialog.getByRole('button', { name: 'Import 7,000 books' }).click();
    await dialog.getByText('The service does not respond. The import waits').waitFor();
    await dialog.getByText(/^2,000 of 7,000 books/).waitFor();
    await restart();
    await dialog.getByText(/^5,000 of 7,000 books/).waitFor();
    await restart();
    await dialog.getByText('7,000 books are stored.').waitFor();
    await assertNumbered(service.url, 7_000);
  } finally {
    await service[Symbol.asyncDispose]();
  }
});

/** A CSV file of different books. */
function numbered(count: number): string {
  return `title,author,year\n${Array.from({ length: count }, (_, n) => `Book ${n},Somebody,${n % 2000}.0`).join('\n')}`;
}

/** Asserts that each book of `numbered` is stored once. */
async function assertNumbered(url: string, count: number): Promise<void> {
  const titles: string[] = [];
  const client = createClient({ url, username: USERNAME, password: PASSWORD });
  for await (const { title } of client.list({ limit: 1_000 })) titles.push(title);
  assert.deepEqual(
    titles,
    Array.from({ length: count }, (_, n) => `Book ${n}`),
  );
}

async function booksOf(service: Service): Promise<unknown[]> {
  const response = await service.fetch('GET', '/books');
  const { data } = (await response.json()) as { data: { title: string; author: string; year: number }[] };
  return data.map(({ title, author, year }) => [title, author, year]);
}

/** The rows of the preview, with joined cells. */
async function rowsOf(dialog: Locator): Promise<string[]> {
  const rows = await dialog.locator('tbody tr').all();
  return Promise.all(rows.map(async (row) => (await row.locator('th, td').allTextContents()).join('|')));
}

const assertRows = (dialog: Locator, expected: string[]) => assertEventually(() => rowsOf(dialog), expected);

async function choose(page: Page, dialog: Locator, name: string, text: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await dialog.getByRole('button', { name: 'Choose a file' }).click();
  await (await choosing).setFiles({ name, mimeType: '', buffer: Buffer.from(text) });
}

/** Drops files on the page, by name and text. */
async function drop(page: Page, files: Readonly<Record<string, string>>): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const [name, text] of Object.entries(${JSON.stringify(files)})) transfer.items.add(new File([text], name));
    return transfer;
  })()`);
  const target = page.locator('dialog[open], main').last();
  // The page accepts files once the code of its commands is loaded.
  const isAccepted = `(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([''], 'a.csv'));
    return !document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }));
  })()`;
  await assertEventually(() => page.evaluate<boolean>(isAccepted), true);
  for (const event of ['dragover', 'drop']) await target.dispatchEvent(event, { dataTransfer: transfer });
}
