import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../testkit/cluster.ts';
import { createFolder } from '../../testkit/folder.ts';
import {
  createBook,
  listTitles,
  type ServiceProcess,
  signIn,
  startService,
  tokenFrom,
} from '../../testkit/service-process.ts';

/** More than a stop takes, and less than the timeout of a search statement. */
const STOP_MS_MAX = 30_000;

const BODY = '{"title":"The Iliad","author":"Homer","year":-750}';

/** Sends the headers of a POST /book and half of its body; resolves when the service reads it. */
async function beginRequest(service: ServiceProcess, token: string): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1');
  const head = ['POST /book HTTP/1.1', 'Host: books', `Authorization: ${token}`, 'Expect: 100-continue'];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${BODY.length}\r\n\r\n`);
  const [interim] = (await once(socket, 'data')) as [Buffer];
  assert.equal(interim.toString(), 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(BODY.slice(0, 20));
  return socket;
}

/** @returns the status of the response; undefined when there is none */
async function statusOf(
  { url }: ServiceProcess,
  token: string,
  method: string,
  path: string,
  body: string | null = null,
): Promise<number | undefined> {
  const response = await fetch(`${url}${path}`, { method, body, headers: { Authorization: token } }).catch(
    () => undefined,
  );
  return response?.status;
}

/** Sends the rest of the body. @returns the bytes until the connection closes */
async function finishRequest(socket: Socket): Promise<string> {
  socket.write(BODY.slice(20));
  return text(socket);
}

/** The titles in a copy of a SQLite file, which has no WAL. */
async function titlesIn(path: string, folder: string): Promise<unknown[]> {
  const copy = join(folder, 'copy.db');
  await copyFile(path, copy);
  using database = new DatabaseSync(copy);
  return database
    .prepare('select title from books order by id')
    .all()
    .map(({ title }) => title);
}

const WAYS_TO_STOP = {
  SIGTERM: (service: ServiceProcess) => service.signal('SIGTERM'),
  SIGINT: (service: ServiceProcess) => service.signal('SIGINT'),
  SIGHUP: (service: ServiceProcess) => service.signal('SIGHUP'),
  'the message of a process manager': (service: ServiceProcess) => service.shutDown(),
};

describe('A service completes the pending request, closes its connection, and exits with 0 and no errors', () => {
  for (const [name, stop] of Object.entries(WAYS_TO_STOP)) {
    test(`at ${name}`, async () => {
      await using folder = await createFolder();
      const variables = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2' };
      await using service = await startService(folder.path, variables);
      const { data } = await signIn(service, 'admin', 'hunter2');
      const socket = await beginRequest(service, (data as { token: string }).token);
      stop(service);
      await service.portClosed();
      const response = await finishRequest(socket);

      assert.match(response, /^HTTP\/1\.1 201 Created\r\n/);
      assert.match(response, /\r\nconnection: close\r\n/i);
      assert.match(response, /"title":"The Iliad"/);
      const { code, complaints } = await service.ended();
      assert.deepEqual([code, complaints], [0, '']);
    });
  }
});

describe('STOP_DELAY_SECONDS', { concurrency: 2 }, () => {
  test('delays the stop: /readyz responds 503, and everything else is served, also on new connections', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, { STOP_DELAY_SECONDS: '3600' });
    const token = await tokenFrom(service, folder.path);
    assert.equal(await statusOf(service, '', 'GET', '/readyz'), 200);
    service.signal('SIGTERM');
    while ((await statusOf(service, '', 'GET', '/readyz')) === 200);

    assert.equal(await statusOf(service, '', 'GET', '/readyz'), 503);
    assert.equal(await statusOf(service, '', 'GET', '/healthz'), 200);
    const response = await fetch(`${service.url}/book`, {
      method: 'POST',
      body: BODY,
      headers: { Authorization: token },
    });
    assert.deepEqual([response.status, response.headers.get('connection')], [201, 'keep-alive']);
  });

  test('is followed by the exit', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path, { STOP_DELAY_SECONDS: '1' });
    const signalled = performance.now();
    const { code } = await service.stop();
    assert.equal(code, 0);
    assert.ok(performance.now() - signalled >= 1_000);
  });
});

describe('A stopping service', { concurrency: 2 }, () => {
  test('ignores further signals', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    const socket = await beginRequest(service, await tokenFrom(service, folder.path));
    service.signal('SIGTERM');
    await service.portClosed();
    service.signal('SIGTERM');
    service.signal('SIGINT');

    assert.match(await finishRequest(socket), /^HTTP\/1\.1 201 Created\r\n/);
    assert.equal((await service.ended()).code, 0);
  });

  test('waits for pending requests, but not for idle connections', async () => {
    await using folder = await createFolder();
    await using idle = await startService(folder.path);
    await using busy = await startService(folder.path);
    const kept = connect(idle.port, '127.0.0.1');
    kept.write('GET / HTTP/1.1\r\nHost: books\r\n\r\n');
    await once(kept, 'data');
    const silent = connect(idle.port, '127.0.0.1');
    await once(silent, 'connect');
    const socket = await beginRequest(busy, await tokenFrom(busy, folder.path));

    const first = Promise.race([busy.stop().then(() => 'busy'), idle.stop().then(() => 'idle')]);
    assert.equal(await first, 'idle');
    socket.destroy();
    assert.equal((await busy.ended()).code, 0);
    kept.destroy();
    silent.destroy();
  });

  test('closes the connection of a stalled client without a response', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    const socket = await beginRequest(service, await tokenFrom(service, folder.path));
    const response = text(socket).catch((error: NodeJS.ErrnoException) => error.code);
    const { code } = await service.stop();

    assert.equal(code, 0);
    assert.ok(['', 'ECONNRESET'].includes((await response) ?? ''));
  });

  test('does not wait for a database that hangs', async () => {
    await using cluster = await startCluster();
    await using folder = await createFolder();
    await using service = await startService(folder.path, { DB_URL: cluster.url });
    const token = await tokenFrom(service, folder.path);
    await createBook(service, token, 'Dune');
    await statusOf(service, token, 'GET', '/books?q=dune');
    await cluster.freeze();
    const calls = [
      statusOf(service, token, 'POST', '/book', BODY),
      statusOf(service, token, 'POST', '/books', `[${BODY}]`),
      statusOf(service, token, 'GET', '/books?q=dune'),
      statusOf(service, token, 'GET', '/books'),
    ];
    await sleep(100);
    const signalledMs = performance.now();
    const { code } = await service.stop();

    assert.equal(code, 0);
    assert.ok(performance.now() - signalledMs < STOP_MS_MAX);
    assert.ok((await Promise.all(calls)).every((status) => status === 503 || status === undefined));
  });

  test('leaves all books in the SQLite file alone, also beside another process that has it open', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    await createBook(service, await tokenFrom(service, folder.path), 'Dune');
    const path = join(folder.path, 'data', 'books.db');
    using other = new DatabaseSync(path);
    other.prepare('select count(*) from books').get();
    const { output } = await service.stop();

    assert.deepEqual(await titlesIn(path, folder.path), ['Dune']);
    assert.doesNotMatch(output, /WAL/);
  });

  test('says in its log what the file alone lacks while another process reads', async () => {
    await using folder = await createFolder();
    await using service = await startService(folder.path);
    const path = join(folder.path, 'data', 'books.db');
    using other = new DatabaseSync(path);
    other.exec('begin; select count(*) from books');
    await createBook(service, await tokenFrom(service, folder.path), 'Dune');
    const { code, output } = await service.stop();

    assert.equal(code, 0);
    assert.match(
      output,
      /"level":40,.*"msg":"the latest books are in the WAL alone, as another program uses/,
    );
    assert.deepEqual(await titlesIn(path, folder.path), []);
  });

  test('has stored every acknowledged book, and its tokens remain valid after the next start', async () => {
    await using folder = await createFolder();
    const first = await startService(folder.path);
    const token = await tokenFrom(first, folder.path);
    const id = await createBook(first, token, 'Dune');
    await first.stop();

    await using second = await startService(folder.path);
    assert.deepEqual([...(await listTitles(second, token))], [[id, 'Dune']]);
  });
});
