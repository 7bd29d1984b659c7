import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, startService, USERNAME } from '../../testkit/service.ts';
import { KEYS, missingPrograms, WebKit } from '../../testkit/webkit.ts';
import { CLASSICS, findBook, store } from '../console/books.ts';

const { Control, Delete, Enter, Escape, F2, Insert, Shift, Tab } = KEYS;

/** Whether the text of the first element of a selector has a part. */
const has = (selector: string, part: string) =>
  `document.querySelector('${selector}')?.innerText.includes(${JSON.stringify(part)})`;

test('In WebKit, a user searches, edits, adds, deletes and undoes with the keyboard, and the page logs no error', async (context) => {
  const missing = missingPrograms();
  if (missing.length > 0) return context.skip(`${missing.join(' and ')} not on the path`);
  await using service = await startService({ hasHistory: true });
  await store(service, CLASSICS);
  await using page = await WebKit.start();
  await page.open(`${service.url}/console/`);
  await page.waitUntil(`document.querySelector('[name=username]') !== null`);
  await page.evaluate(`(() => {
    window.messages = [];
    console.error = console.warn = (...parts) => messages.push(parts.join(' '));
    for (const type of ['error', 'unhandledrejection', 'securitypolicyviolation'])
      addEventListener(type, ({ message, reason, violatedDirective }) => messages.push(String(message ?? reason ?? violatedDirective)));
  })()`);
  await page.fill('[name=username]', USERNAME);
  await page.fill('[name=password]', PASSWORD);
  await page.click('[type=submit]');
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
