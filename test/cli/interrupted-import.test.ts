import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBook, startService, tokenFrom } from '../process/service-process.ts';
import { type Engine, engines } from '../support/engines.ts';
import { createFolder } from '../support/folder.ts';
import { openStoreAt } from '../support/stores.ts';
import { booksAt, tallyOf } from './books.ts';
import { BOOKKEEPING, runCommand, startCommand } from './command.ts';

const ROWS = 20_000;

/** So many of them are there when an import is cut off: more than it stores at once. */
const ROWS_BEFORE = 9_000;

/** Some books as CSV, all different; the year tells which. */
function rowsOf(count: number): string {
  const rows = Array.from(
    { length: count },
    (_, index) => `"Book ${index}, of many",Author ${index % 99},${index}\n`,
  );
  return `title,author,year\n${rows.join('')}`;
}

/** Resolves when some rows are stored. */
async function someStored(dbUrl: string, importing: ChildProcess): Promise<void> {
  await using store = await openStoreAt(dbUrl);
  while (importing.exitCode === null && (await store.find(1)) === undefined) await sleep(1);
}

/** Runs the import again, and asserts that every row is there once then. */
async function assertCompletes(folder: string, dbUrl: string, engine: Engine): Promise<void> {
  const before = (await booksAt(dbUrl)).length;
  const { code, output } = await runCommand(['import', 'many.csv', '--skip-existing'], {
    folder,
    variables: { DB_URL: dbUrl },
  });
  const expected = { read: ROWS, stored: ROWS - before, skipped: before, bad: 0 };
  assert.deepEqual([code, tallyOf(output)], [0, expected], engine.name);
  const years = (await booksAt(dbUrl)).map(({ year }) => year).toSorted((one, other) => one - other);
  assert.deepEqual(
    years,
    Array.from({ length: ROWS }, (_, index) => index),
  );
}

for (const engine of engines) {
  describe(`An import on ${engine.name}`, () => {
    test('that is killed and run again stores every row once', async () => {
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
      await someStored(address.dbUrl, importing);
      importing.kill('SIGKILL');
      await once(importing, 'close');
      await assertCompletes(folder.path, address.dbUrl, engine);
    });

    test('that is interrupted ends with its batch, sums up, and ends with 130', async () => {
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
      const output = text(importing.stdout as NodeJS.ReadableStream);
      await someStored(address.dbUrl, importing);
      importing.kill('SIGINT');
      importing.kill('SIGINT');
      const [code] = await once(importing, 'close');
      assert.equal(code, 130);
      assert.match(await output, /^read [0-9]+, stored [0-9]+, .* rows\/s; interrupted\n$/);
      assert.equal(tallyOf(await output).bad, 0);
      assert.equal((await booksAt(address.dbUrl)).length, tallyOf(await output).stored);
      await assertCompletes(folder.path, address.dbUrl, engine);

      const waiting = startCommand(['import', '-'], { folder: folder.path, variables, isOpen: true });
      const nothing = text(waiting.stdout as NodeJS.ReadableStream);
      const interrupting = setInterval(() => waiting.kill('SIGINT'), 500);
      await once(waiting, 'close');
      clearInterval(interrupting);
      // It may not have come to handle signals yet.
      if (waiting.exitCode === 130) assert.equal(await nothing, 'nothing is stored; interrupted\n');
      else assert.equal(waiting.signalCode, 'SIGINT');
    });

    test('goes on beside a service, whose writers get their turn', async () => {
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
      let created = 0;
      while (importing.exitCode === null) {
        await createBook(service, token, 'Meanwhile');
        created++;
      }
      // The row of the year 0, which is no id.
      assert.deepEqual((await ended)[0], 1);
      await service.stop();
      const books = await booksAt(address.dbUrl);
      assert.equal(books.filter(({ title }) => title === 'Meanwhile').length, created);
    });
  });
}

test('An import into a disk that is full says how many books it has stored', async () => {
  await using folder = await createFolder();
  const rows = Array.from({ length: 10_000 }, (_, index) => `${index} ${'x'.repeat(2_500)}\n`);
  await writeFile(join(folder.path, 'long.csv'), `title\n${rows.join('')}`);
  // The most that a file may have, in blocks of 512 bytes, stands for the end of the disk.
  const command = `ulimit -f 12000; exec '${process.execPath}' '${BOOKKEEPING}' import long.csv --map author=,year=`;
  const variables = { DB_URL: 'sqlite:books.db' };
  const importing = spawn('sh', ['-c', command], { cwd: folder.path, env: variables });
  const [output, complaints, [code]] = await Promise.all([
    text(importing.stdout),
    text(importing.stderr),
    once(importing, 'close'),
  ]);
  assert.match(complaints, /^bookkeeping: the store is unavailable \(SQLITE_[A-Z]+\)\n$/);
  assert.match(output, /^read [0-9]+, stored [0-9]+, .*; failed\n$/);
  assert.equal(code, 1);
  const { stored } = tallyOf(output);
  assert.ok(stored > 0);
  assert.equal((await booksAt(`sqlite:${join(folder.path, 'books.db')}`)).length, stored);
});
