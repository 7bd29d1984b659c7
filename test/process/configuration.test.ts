import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import {
  createBook,
  listTitles,
  readEnvironmentFile,
  ServiceProcess,
  signIn,
  startService,
  tokenFrom,
} from '../../testkit/service-process.ts';

describe('The first start in an empty folder', { concurrency: 2 }, () => {
  test('generates the unset secrets, writes them to .env with mode 0600, and prints their names only', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    const variables = await readEnvironmentFile(folder.path);

    assert.deepEqual(Object.keys(variables).toSorted(), ['AUTH_PASSWORD', 'AUTH_USERNAME', 'SECRET_TOKEN']);
    assert.equal((await stat(join(folder.path, '.env'))).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(folder.path)).toSorted(), ['.env', '.env.lock', 'data']);
    assert.ok((await readdir(join(folder.path, 'data'))).includes('books.db'));
    const { SECRET_TOKEN = '', AUTH_PASSWORD = '' } = variables;
    assert.equal((await signIn(service, 'admin', AUTH_PASSWORD)).status, 200);
    const { output, complaints } = await service.stop();
    assert.equal(complaints, 'bookkeeping: generated SECRET_TOKEN, AUTH_USERNAME, AUTH_PASSWORD in .env\n');
    for (const value of [SECRET_TOKEN, AUTH_PASSWORD]) assert.ok(!`${output}${complaints}`.includes(value));
  });

  test('of several processes at once generates one set of secrets', async () => {
    await using folder = await createFolder();
    await using processes = new AsyncDisposableStack();
    const services = Array.from({ length: 4 }, () => processes.use(new ServiceProcess(folder.path)));
    await Promise.all(services.map((service) => service.listening()));

    assert.equal(Object.keys(await readEnvironmentFile(folder.path)).length, 3);
    for (const [index, service] of services.entries()) {
      const token = await tokenFrom(service, folder.path);
      await createBook(service, token, `Volume ${index}`);
      for (const other of services) assert.equal((await listTitles(other, token)).size, index + 1);
    }
  });
});

describe('A later start', { concurrency: 2 }, () => {
  test('reads .env and does not change it', async () => {
    await using folder = await createFolder();
    await (await startService(folder.path)).stop();
    const text = await readFile(join(folder.path, '.env'), 'utf8');

    await using service = await startService(folder.path);
    await tokenFrom(service, folder.path);
    const { complaints } = await service.stop();
    assert.equal(await readFile(join(folder.path, '.env'), 'utf8'), text);
    assert.equal(complaints, '');
  });

  test('adds missing secrets to .env', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, '.env'), '# ours\nAUTH_PASSWORD=hunter2\n');
    await using service = await startService(folder.path);

    assert.equal((await signIn(service, 'admin', 'hunter2')).status, 200);
    assert.match(
      await readFile(join(folder.path, '.env'), 'utf8'),
      /^# ours\nAUTH_PASSWORD=hunter2\nSECRET_TOKEN=\S+\nAUTH_USERNAME=admin\n$/,
    );
  });
});

describe('The environment', { concurrency: 2 }, () => {
  test('takes precedence over .env', async () => {
    await using folder = await createFolder();
    await writeFile(
      join(folder.path, '.env'),
      'DB_URL=mysql://db\nAUTH_USERNAME=file\nAUTH_PASSWORD=file\nSECRET_TOKEN=file\n',
    );
    const variables = { DB_URL: 'sqlite:other.db', AUTH_USERNAME: 'librarian', AUTH_PASSWORD: 'hunter2' };
    await using service = await startService(folder.path, variables);

    assert.equal((await signIn(service, 'file', 'file')).status, 401);
    assert.equal((await signIn(service, 'librarian', 'hunter2')).status, 200);
    assert.ok((await readdir(folder.path)).includes('other.db'));
  });

  test('treats an empty value as unset', async () => {
    await using folder = await createFolder();
    await writeFile(join(folder.path, '.env'), 'AUTH_USERNAME=librarian\nAUTH_PASSWORD=\n');
    await using service = await startService(folder.path, {
      AUTH_USERNAME: '',
      SECRET_TOKEN: '',
      DB_URL: '',
    });

    const { AUTH_PASSWORD = '', SECRET_TOKEN = '' } = await readEnvironmentFile(folder.path);
    assert.ok(AUTH_PASSWORD !== '' && SECRET_TOKEN !== '');
    assert.equal((await signIn(service, 'librarian', AUTH_PASSWORD)).status, 200);
  });

  test('with all secrets makes .env unnecessary', async () => {
    await using folder = await createFolder();
    const variables = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2', NODE_ENV: 'production' };
    await using service = await startService(folder.path, variables);

    assert.equal((await signIn(service, 'admin', 'hunter2')).status, 200);
    assert.deepEqual(await readdir(folder.path), ['data']);
    assert.equal((await service.stop()).complaints, '');
  });

  test('with all secrets makes an .env unnecessary that cannot be read, which is reported', async () => {
    await using folder = await createFolder();
    await mkdir(join(folder.path, '.env'));
    const warning =
      'the file .env cannot be read (EISDIR, a folder); it is not used, as the environment has SECRET_TOKEN and AUTH_PASSWORD';
    for (const NODE_ENV of ['production', '']) {
      const variables = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2', NODE_ENV };
      await using service = await startService(folder.path, variables);
      assert.equal((await signIn(service, 'admin', 'hunter2')).status, 200);
      assert.equal((await service.stop()).complaints, `bookkeeping: warning: ${warning}\n`);
      const { stdout, code } = await runCommand(['check'], { folder: folder.path, variables });
      assert.deepEqual([code, stdout.split('\n')[0]], [0, `configuration: ok; ${warning}`]);
    }
    const { code, stderr } = await runCommand(['export', '-'], { folder: folder.path, variables: {} });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\.env cannot be read or written \(EISDIR, a folder\): set DB_URL in the environment$/m,
    );
    const DB_URL = 'sqlite:data/books.db';
    const exported = await runCommand(['export', '-', '--format', 'json'], {
      folder: folder.path,
      variables: { DB_URL },
    });
    assert.deepEqual([exported.code, exported.stderr, JSON.parse(exported.stdout)], [0, '', []]);
  });

  test('of a password with # in .env signs in with all of it', async () => {
    await using folder = await createFolder();
    const text = 'AUTH_PASSWORD=p@ss#word';
    await writeFile(join(folder.path, '.env'), `${text}\nSECRET_TOKEN=${'k#'.repeat(16)}\n`);
    await using service = await startService(folder.path);
    assert.equal((await signIn(service, 'admin', 'p@ss')).status, 401);
    assert.equal((await signIn(service, 'admin', 'p@ss#word')).status, 200);
    const { stdout } = await runCommand(['token'], { folder: folder.path, variables: {} });
    const response = await fetch(`${service.url}/books`, { headers: { Authorization: stdout.trim() } });
    assert.equal(response.status, 200);
  });

  test('with a short SECRET_TOKEN causes a warning', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, {
      SECRET_TOKEN: 'short',
      AUTH_PASSWORD: 'hunter2',
    });

    const { complaints } = await service.stop();
    assert.equal(complaints, 'bookkeeping: warning: SECRET_TOKEN is shorter than 32 bytes\n');
  });
});
