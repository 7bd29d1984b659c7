import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOOKKEEPING, runCommand, startCommand } from '../../testkit/command.ts';
import { type Engine, engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { send, startService, tokenFrom } from '../../testkit/service-process.ts';
import { openStoreAt } from '../../testkit/stores.ts';
import { booksAt, tallyOf } from './books.ts';

const ROWS = 9_900;

/** The rows before an interruption: more than a batch. */
const ROWS_BEFORE = 9_000;

/** Different books as CSV, numbered by year. */
function rowsOf(count: number): string {
  const rows = Array.from(
    { length: count },
    (_, index) => `"Book ${index}, of many",Author ${index % 99},${index}\n`,
  );
  return `title,author,year\n${rows.join('')}`;
}

/** Resolves when rows are stored. */
async function someStored(dbUrl: string, importing: ChildProcess): Promise<void> {
  await using store = await openStoreAt(dbUrl);
  while (importing.exitCode === null && (await store.find(1)) === undefined) await sleep(1);
}

/** Repeats the import, and asserts that every row is stored once. */
async function assertCompletes(folder: string, dbUrl: string, engine: Engine): Promise<void> {
  const before = (await booksAt(dbUrl)).length;
  const { code, stdout } = await runCommand(['import', 'many.csv', '--skip-existing'], {
    folder,
    variables: { DB_URL: dbUrl },
  });
  const expected = { read: ROWS, stored: ROWS - before, skipped: before, bad: 0 };
  assert.deepEqual([code, tallyOf(stdout)], [0, expected], engine.name);
  const years = (await booksAt(dbUrl)).map(({ year }) => year).toSorted((one, other) => one - other);
  assert.deepEqual(
    years,
    Array.from({ length: ROWS }, (_, index) => index),
  );
}

for (const engine of engines) {
  describe(`An import on ${engine.name}`, () => {
    test('that is interrupted completes its batch, prints a summary, and exits with 130', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await writeFile(join(folder.path, 'many.csv'), rowsOf(ROWS));
      const variables = { DB_URL: address.dbUrl };
      const input = `${rowsOf(ROWS_BEFORE)}"Half of a`;
      const importing = startCommand(['import', '-'], {
        folder: folder.path,
        variables,
        input,
        isOpen: true,
      });
      const stdout = text(importing.stdout as NodeJS.ReadableStream);
      await someStored(address.dbUrl, importing);
      // Until the process has ended, also while it ends.
      const repeating = setInterval(() => importing.kill('SIGINT'), 1);
      const [code] = await once(importing, 'close');
      clearInterval(repeating);
      assert.equal(code, 130);
      assert.match(await stdout, /^read [0-9]+, stored [0-9]+, .* rows\/s; interrupted\n$/);
      assert.equal(tallyOf(await stdout).bad, 0);
      assert.equal((await booksAt(address.dbUrl)).length, tallyOf(await stdout).stored);
      await assertCompletes(folder.path, address.dbUrl, engine);

      const waiting = startCommand(['import', '-'], { folder: folder.path, variables, isOpen: true });
      const nothing = text(waiting.stdout as NodeJS.ReadableStream);
      const interrupting = setInterval(() => waiting.kill('SIGINT'), 500);
      await once(waiting, 'close');
      clearInterval(interrupting);
      // It may not handle signals yet.
      if (waiting.exitCode === 130) assert.equal(await nothing, 'nothing is stored; interrupted\n');
      else assert.equal(waiting.signalCode, 'SIGINT');
    });

    test('that is killed, and run again with --skip-existing, stores every row once', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await writeFile(join(folder.path, 'many.csv'), rowsOf(ROWS));
      const variables = { DB_URL: address.dbUrl };
      const importing = startCommand(['import', 'many.csv'], { folder: folder.path, variables });
      const ended = once(importing, 'close');
      await someStored(address.dbUrl, importing);
      importing.kill('SIGKILL');
      await ended;
      await assertCompletes(folder.path, address.dbUrl, engine);
    });

    test('runs beside a service, which can write meanwhile', async () => {
      await using folder = await createFolder();
      await using address = await engine.createAddress();
      await writeFile(join(folder.path, 'many.csv'), rowsOf(ROWS));
      const variables = { DB_URL: address.dbUrl };
      await using service = await startService(folder.path, variables);
      const token = await tokenFrom(service, folder.path);
      const importing = startCommand(['import', 'many.csv', '--keep-ids', '--map', 'id=year,year='], {
        folder: folder.path,
        variables,
      });
      const ended = once(importing, 'close');
      // On a busy machine, a write may take too long; then it is unknown whether it happened.
      const statuses: number[] = [];
      while (importing.exitCode === null) {
        const { status } = await send(service, 'POST', '/book', { token, body: '{"title":"Meanwhile"}' });
        assert.ok(status === 201 || status === 503, `${status}`);
        statuses.push(status);
      }
      // The row with the year 0, which is not an id.
      assert.deepEqual((await ended)[0], 1);
      await service.stop();
      const books = await booksAt(address.dbUrl);
      const stored = books.filter(({ title }) => title === 'Meanwhile').length;
      const created = statuses.filter((status) => status === 201).length;
      assert.ok(
        created > 0 && stored >= created && stored <= statuses.length,
        `${stored} of ${statuses.join()}`,
      );
    });
  });
}

test('An import that fills the disk prints the number of stored books', async () => {
  await using folder = await createFolder();
  const rows = Array.from({ length: 10_000 }, (_, index) => `${index} ${'x'.repeat(2_500)}\n`);
  await writeFile(join(folder.path, 'long.csv'), `title\n${rows.join('')}`);
  // A limit for files, in blocks of 512 bytes, in place of a full disk.
  const command = `ulimit -f 12000; exec '${process.execPath}' '${BOOKKEEPING}' import long.csv --map author=,year=`;
  const variables = { DB_URL: 'sqlite:books.db' };
  const importing = spawn('sh', ['-c', command], { cwd: folder.path, env: variables });
  const [stdout, stderr, [code]] = await Promise.all([
    text(importing.stdout),
    text(importing.stderr),
    once(importing, 'close'),
  ]);
  // A slow import prints its progress before.
  assert.match(stderr, /(?:^|\n)bookkeeping: the store is unavailable \(SQLITE_[A-Z]+\)\n$/);
  assert.match(stdout, /^read [0-9]+, stored [0-9]+, .*; failed\n$/);
  assert.equal(code, 1);
  const { stored } = tallyOf(stdout);
  assert.ok(stored > 0);
  assert.equal((await booksAt(`sqlite:${join(folder.path, 'books.db')}`)).length, stored);
});
