import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { ServiceProcess, type Variables } from '../../testkit/service-process.ts';

const COMPLETE = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };

/** A folder that not even root can write to. */
const UNWRITABLE = process.platform === 'linux' ? '/sys' : '/';

/** Asserts that a start prints one line and exits with 1, without listening. @returns the error in the line */
async function assertFails(folder: string, variables: Variables): Promise<string> {
  await using service = new ServiceProcess(folder, variables);
  const { code, output, complaints } = await service.ended();
  assert.match(complaints, /^bookkeeping cannot start: [^\n]+\n$/);
  assert.doesNotMatch(complaints, /hunter2|kkk/);
  assert.equal(output, '');
  assert.equal(code, 1);
  return complaints.slice('bookkeeping cannot start: '.length, -1);
}

describe('A start with an invalid configuration prints one line and exits with 1', { concurrency: 2 }, () => {
  test('when secrets are missing in production, where none are generated', async () => {
    await using folder = await createFolder();
    const error = await assertFails(folder.path, { NODE_ENV: 'production' });

    assert.equal(error, 'SECRET_TOKEN: must be set; AUTH_PASSWORD: must be set');
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('with all errors, but no values, and without writing files', async () => {
    await using folder = await createFolder();
    const error = await assertFails(folder.path, {
      PORT: 'hunter2',
      DB_URL: 'mysql://root:hunter2@db/books',
      CORS_ORIGINS: 'hunter2',
      TRUST_PROXY: 'hunter2',
      NODE_ENV: 'production',
    });

    const names = error.split('; ').map((part) => part.split(':')[0]);
    assert.deepEqual(names, [
      'PORT',
      'DB_URL',
      'SECRET_TOKEN',
      'AUTH_PASSWORD',
      'CORS_ORIGINS',
      'TRUST_PROXY',
    ]);
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('when lines of .env are not assignments', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, '.env'), 'PORT: 19803\nAUTH_PASSWORD=hunter2\nhunter2\n');
    const problem = 'must be an assignment such as PORT=8080';
    const error = await assertFails(folder.path, { ...COMPLETE, NODE_ENV: 'production' });
    assert.equal(error, `.env, line 1: ${problem}; .env, line 3: ${problem}`);
  });

  test('when .env cannot be read, and the environment lacks a secret', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, '.env'));
    for (const variables of [
      {},
      { SECRET_TOKEN: 'key', NODE_ENV: 'production' },
      { AUTH_PASSWORD: 'hunter2' },
    ]) {
      assert.equal(
        await assertFails(folder.path, variables),
        'the file .env cannot be read or written (EISDIR, a folder): set SECRET_TOKEN and AUTH_PASSWORD in the environment',
      );
    }
  });

  test('when .env cannot be written', async () => {
    assert.match(
      await assertFails(UNWRITABLE, {}),
      /\.env cannot be read or written \(E[A-Z]+\): set SECRET_TOKEN/,
    );
  });
});

describe('A start without a usable store prints one line and exits with 1', { concurrency: 2 }, () => {
  test('when the file is no SQLite database', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'books.db'), 'This is a shopping list. '.repeat(1_000));
    const error = await assertFails(folder.path, { ...COMPLETE, DB_URL: 'sqlite:books.db' });
    assert.match(error, /books\.db .*\(SQLITE_NOTADB\)$/);
  });

  test('when the SQLite file is a folder', async () => {
    await using folder = await createFolder();
    const error = await assertFails(folder.path, { ...COMPLETE, DB_URL: 'sqlite:.' });
    assert.match(error, /\(SQLITE_CANTOPEN\)$/);
  });

  test('when the folder cannot be created or written', async () => {
    await using folder = await createFolder();
    for (const path of ['books.db', 'data/books.db']) {
      const DB_URL = `sqlite:${join(UNWRITABLE, path)}`;
      assert.match(await assertFails(folder.path, { ...COMPLETE, DB_URL }), /cannot be opened or prepared/);
    }
  });

  test('when PostgreSQL does not listen', async () => {
    await using folder = await createFolder();
    const DB_URL = `postgres://app:hunter2@127.0.0.1:${await findFreePort()}/books`;
    assert.match(
      await assertFails(folder.path, { ...COMPLETE, DB_URL }),
      /cannot be reached \(ECONNREFUSED\)$/,
    );
  });

  test('when PostgreSQL rejects the password or lacks the database', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    const wrongPassword = Object.assign(new URL(database.url), { password: 'hunter2' }).href;
    const wrongName = Object.assign(new URL(database.url), { pathname: 'nowhere' }).href;

    assert.match(
      await assertFails(folder.path, { ...COMPLETE, DB_URL: wrongPassword }),
      /refuses .* \(28P01\)$/,
    );
    assert.match(
      await assertFails(folder.path, { ...COMPLETE, DB_URL: wrongName }),
      /no such database \(3D000\)$/,
    );
  });

  test('when PostgreSQL requires a password and there is none', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    const DB_URL = Object.assign(new URL(database.url), { password: '' }).href;

    assert.match(await assertFails(folder.path, { ...COMPLETE, DB_URL }), /password/);
  });
});

describe('A start that cannot listen prints one line and exits with 1', { concurrency: 2 }, () => {
  test('when the port is in use', async () => {
    await using folder = await createFolder();
    await using owner = createServer().listen(0, '127.0.0.1');
    await once(owner, 'listening');
    const address = owner.address();
    assert.ok(address && typeof address === 'object');

    const error = await assertFails(folder.path, { ...COMPLETE, PORT: `${address.port}` });
    assert.equal(error, `the port ${address.port} is already in use; set PORT to another one`);
  });

  test('when HOST is no address of this machine', async () => {
    await using folder = await createFolder();
    for (const HOST of ['192.0.2.1', 'no host']) {
      const error = await assertFails(folder.path, { ...COMPLETE, HOST });
      assert.match(error, /see HOST and PORT$/, HOST);
      assert.ok(error.includes(HOST), error);
    }
  });
});
