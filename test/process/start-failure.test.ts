import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { createDatabase } from '../support/postgres.ts';
import { ServiceProcess, type Variables } from './service-process.ts';

const COMPLETE = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };

/** A folder where nobody can write, root included. */
const UNWRITABLE = process.platform === 'linux' ? '/sys' : '/';

/**
 * Asserts that a start ends with exit code 1 and one line, without having listened.
 *
 * @returns what the line says
 */
async function assertFails(folder: string, variables: Variables): Promise<string> {
  await using service = new ServiceProcess(folder, variables);
  const { code, output, complaints } = await service.ended();
  assert.match(complaints, /^bookkeeping cannot start: [^\n]+\n$/);
  assert.doesNotMatch(complaints, /hunter2|kkk/);
  assert.equal(output, '');
  assert.equal(code, 1);
  return complaints.slice('bookkeeping cannot start: '.length, -1);
}

describe('A start fails with one line about the configuration:', { concurrency: 2 }, () => {
  test('in production nothing is generated, and what is missing is named', async () => {
    await using folder = await createFolder();
    const complaint = await assertFails(folder.path, { NODE_ENV: 'production' });

    assert.equal(complaint, 'SECRET_TOKEN: must be set; AUTH_PASSWORD: must be set');
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('all faults at once, without a value', async () => {
    await using folder = await createFolder();
    const complaint = await assertFails(folder.path, {
      PORT: 'hunter2',
      DB_URL: 'mysql://root:hunter2@db/books',
      CORS_ORIGINS: 'hunter2',
      TRUST_PROXY: 'hunter2',
      NODE_ENV: 'production',
    });

    const names = complaint.split('; ').map((fault) => fault.split(':')[0]);
    assert.deepEqual(names, [
      'PORT',
      'DB_URL',
      'SECRET_TOKEN',
      'AUTH_PASSWORD',
      'CORS_ORIGINS',
      'TRUST_PROXY',
    ]);
  });

  test('a first start that cannot be writes nothing', async () => {
    await using folder = await createFolder();
    assert.match(await assertFails(folder.path, { PORT: 'eighty' }), /^PORT: [^;]+$/);
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('the store of another product', async () => {
    await using folder = await createFolder();
    const complaint = await assertFails(folder.path, {
      ...COMPLETE,
      DB_URL: 'mysql://root:hunter2@db/books',
    });
    assert.match(complaint, /^DB_URL: it must begin with sqlite:, postgres:\/\/ or postgresql:\/\//);
  });

  test('networks that nobody can be in', async () => {
    await using folder = await createFolder();
    for (const TRUST_PROXY of ['10.0.0.0/8/9', '0.0.0.0/0', '::/0']) {
      assert.match(await assertFails(folder.path, { ...COMPLETE, TRUST_PROXY }), /^TRUST_PROXY: /);
    }
  });

  test('lines of .env that are not assignments', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, '.env'), 'PORT: 19803\nAUTH_PASSWORD=hunter2\nhunter2\n');
    const fault = 'must be an assignment such as PORT=8080';
    for (const variables of [{}, COMPLETE, { ...COMPLETE, NODE_ENV: 'production' }]) {
      const complaint = await assertFails(folder.path, variables);
      assert.equal(complaint, `.env, line 1: ${fault}; .env, line 3: ${fault}`);
    }
  });

  test('a .env that cannot be read', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, '.env'));
    assert.match(await assertFails(folder.path, {}), /\.env cannot be read or written \(EISDIR\)/);
  });

  test('a .env that cannot be written', async () => {
    assert.match(
      await assertFails(UNWRITABLE, {}),
      /\.env cannot be read or written \(E[A-Z]+\): set SECRET_TOKEN/,
    );
  });
});

describe('A start fails with one line about the store:', { concurrency: 2 }, () => {
  test('a SQLite file that is none', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, 'books.db'), 'This is a shopping list. '.repeat(1_000));
    const complaint = await assertFails(folder.path, { ...COMPLETE, DB_URL: 'sqlite:books.db' });
    assert.match(complaint, /books\.db .*\(SQLITE_NOTADB\)$/);
  });

  test('a folder in place of the file', async () => {
    await using folder = await createFolder();
    const complaint = await assertFails(folder.path, { ...COMPLETE, DB_URL: 'sqlite:.' });
    assert.match(complaint, /\(SQLITE_CANTOPEN\)$/);
  });

  test('a folder that cannot be made or written', async () => {
    await using folder = await createFolder();
    for (const path of ['books.db', 'data/books.db']) {
      const DB_URL = `sqlite:${join(UNWRITABLE, path)}`;
      assert.match(await assertFails(folder.path, { ...COMPLETE, DB_URL }), /cannot be opened or prepared/);
    }
  });

  test('a PostgreSQL server that is not there', async () => {
    await using folder = await createFolder();
    const DB_URL = `postgres://app:hunter2@127.0.0.1:${await findFreePort()}/books`;
    assert.match(
      await assertFails(folder.path, { ...COMPLETE, DB_URL }),
      /cannot be reached \(ECONNREFUSED\)$/,
    );
  });

  test('a PostgreSQL server that refuses the password, or has no such database', async () => {
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

  test('a PostgreSQL server that wants a password, where there is none', async () => {
    await using folder = await createFolder();
    await using database = await createDatabase();
    const DB_URL = Object.assign(new URL(database.url), { password: '' }).href;

    assert.match(await assertFails(folder.path, { ...COMPLETE, DB_URL }), /password/);
  });
});

describe('A start fails with one line about its address:', { concurrency: 2 }, () => {
  test('a port that is taken', async () => {
    await using folder = await createFolder();
    await using owner = createServer().listen(0, '127.0.0.1');
    await once(owner, 'listening');
    const address = owner.address();
    assert.ok(address && typeof address === 'object');

    const complaint = await assertFails(folder.path, { ...COMPLETE, PORT: `${address.port}` });
    assert.equal(complaint, `the port ${address.port} is already in use; set PORT to another one`);
  });

  test('an address that is not of this machine, or none at all', async () => {
    await using folder = await createFolder();
    for (const HOST of ['192.0.2.1', 'fe80::1', 'no host']) {
      const complaint = await assertFails(folder.path, { ...COMPLETE, HOST });
      assert.match(complaint, /see HOST and PORT$/, HOST);
      assert.ok(complaint.includes(HOST), complaint);
    }
  });
});
