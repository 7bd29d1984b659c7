import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { Connection, Cut, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { createFolder } from '../../testkit/folder.ts';
import { findFreePort } from '../../testkit/free-port.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { createBook, listTitles, ServiceProcess, type Variables } from '../../testkit/service-process.ts';
import { query } from '../../testkit/sql.ts';
import {
  identifyProcess,
  STARTUP_ERROR_OUTPUT,
  startTwoWorkers,
  type TwoWorkers,
  waitForProcesses,
} from './worker-processes.ts';

const COMPLETE = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2', WORKERS: '2' };

for (const { name } of engines) {
  describe(`Two workers on ${name}`, { concurrency: 2 }, () => {
    test('serve on one port, and the primary does not; they share books, tokens and generated secrets; one that is killed is replaced', async () => {
      await using workers = await startTwoWorkers(name);
      const { service, token, pids, envFile } = workers;
      const { parent } = await identifyProcess(service.url);
      assert.equal(new Set(pids).size, 2);
      assert.ok(![...pids, process.pid].includes(parent));
      const titles = Array.from({ length: 10 }, (_, index) => `Volume ${index}`);
      for (const title of titles) await createBook(service, token, title);
      for (const _ of pids) assert.deepEqual([...(await listTitles(service, token)).values()], titles);

      // They are replaced when they are killed, with the same configuration, even if .env has changed.
      const [killed = 0, other = 0] = pids;
      await writeFile(envFile, 'DB_URL=sqlite:other.db\nSECRET_TOKEN=other\nAUTH_PASSWORD=other\n');
      process.kill(killed, 'SIGKILL');
      const serving = await waitForProcesses(service.url, 2);
      assert.ok(serving.has(other) && !serving.has(killed));
      for (const _ of pids) assert.deepEqual([...(await listTitles(service, token)).values()], titles);
      assert.equal(
        (await service.stop()).complaints,
        `${STARTUP_ERROR_OUTPUT}bookkeeping: warning: worker ${killed} exited (SIGKILL) and is replaced\n`,
      );
    });
  });

  describe(`Workers on ${name} exit`, { concurrency: 2, timeout: 120_000 }, () => {
    const signal = name === 'SQLite' ? 'SIGTERM' : 'SIGINT';
    test(`at ${signal} to the primary under load, without losing an acknowledged book`, async () => {
      await using workers = await startTwoWorkers(name);
      const { service, dbUrl } = workers;
      const requests = await beginRequests(workers);
      const acknowledged: number[] = [];
      const clients = Array.from({ length: 16 }, () => createUntilClosed(workers, acknowledged));
      while (acknowledged.length < 200) await new Promise(setImmediate);
      service.signal(signal);
      await service.portClosed();

      await finishRequests(requests);
      await Promise.all(clients);
      assert.equal((await service.ended()).code, 0);
      const stored = new Set((await query(dbUrl, 'select id from books')).map(({ id }) => Number(id)));
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
      );
    });

    test('after their pending requests when the primary is killed', async () => {
      await using workers = await startTwoWorkers(name);
      const { service } = workers;
      const requests = await beginRequests(workers);
      service.signal('SIGKILL');
      await service.portClosed();

      // On SQLite, the primary would write the books.
      await finishRequests(requests, name === 'SQLite' ? 503 : 201);
      // The output closes when all workers have exited.
      await service.ended();
    });
  });
}

describe('Workers exit', { concurrency: 2, timeout: 120_000 }, () => {
  test('with 0 and without output when all processes get several signals', async () => {
    await using workers = await startTwoWorkers('SQLite');
    const { service, pids } = workers;
    const requests = await beginRequests(workers);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
      service.signal(signal);
      for (const pid of pids) process.kill(pid, signal);
    }
    await service.portClosed();

    await finishRequests(requests);
    const { code, complaints } = await service.ended();
    assert.deepEqual([code, complaints], [0, STARTUP_ERROR_OUTPUT]);
  });

  test('although clients stall and a worker hangs', async () => {
    await using workers = await startTwoWorkers('SQLite');
    const { service, pids } = workers;
    const stalled = await beginRequests(workers);
    process.kill(pids[0] ?? 0, 'SIGSTOP');

    assert.equal((await service.stop()).code, 0);
    for (const connection of stalled) assert.equal(await connection.rest(), '');
  });
});

const BODY = '{"title":"The Iliad","author":"Homer","year":-750}';

/** Sends the first halves of POST /book from several clients; resolves when workers read them. */
async function beginRequests({ service, token }: TwoWorkers): Promise<readonly Connection[]> {
  const head = [`Authorization: ${token}`, 'Expect: 100-continue', `Content-Length: ${BODY.length}`];
  return Promise.all(
    Array.from({ length: 8 }, async () => {
      const connection = await Connection.open(service);
      await connection.send(request('POST /book', head));
      assert.equal((await connection.response()).status, 100);
      await connection.send(BODY.slice(0, 20));
      return connection;
    }),
  );
}

/** Sends the second halves, and asserts the status of the responses and the end of each connection. */
async function finishRequests(connections: readonly Connection[], expected = 201): Promise<void> {
  for (const connection of connections) await connection.send(BODY.slice(20));
  for (const connection of connections) {
    const { status, headers } = await connection.response();
    assert.deepEqual([status, headers.get('connection')], [expected, 'close']);
    assert.equal(await connection.rest(), '');
  }
}

/** Creates books on one connection until it is closed, and records the acknowledged ids. */
async function createUntilClosed({ service, token }: TwoWorkers, acknowledged: number[]): Promise<void> {
  using connection = await Connection.open(service);
  try {
    for (let isLast = false; !isLast; ) {
      await connection.send(request('POST /book', [`Authorization: ${token}`], BODY));
      const { status, headers, body } = await connection.response();
      assert.equal(status, 201);
      acknowledged.push((JSON.parse(body) as { data: { id: number } }).data.id);
      isLast = headers.get('connection') === 'close';
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
  }
}

describe('A start of workers prints one line and exits with 1', { concurrency: 2 }, () => {
  test('when WORKERS is no number', async () => {
    assert.match(
      await startErrorOf({ WORKERS: 'all' }),
      /WORKERS: must be a whole number from 1 to 64, or auto$/,
    );
  });

  test('when PostgreSQL does not listen', async () => {
    const DB_URL = `postgres://app:hunter2@127.0.0.1:${await findFreePort()}/books`;
    assert.match(await startErrorOf({ DB_URL }), /cannot be reached \(ECONNREFUSED\)$/);
  });

  test('when the port is in use, or HOST is no address of this machine', async () => {
    await using database = await createDatabase();
    await using owner = createServer().listen(0, '127.0.0.1');
    await once(owner, 'listening');
    const PORT = `${(owner.address() as AddressInfo).port}`;

    const DB_URL = database.url;
    assert.match(
      await startErrorOf({ DB_URL, PORT }),
      new RegExp(`the port ${PORT} is already in use; set PORT to another one$`),
    );
    assert.match(await startErrorOf({ DB_URL, HOST: '192.0.2.1' }), /see HOST and PORT$/);
  });
});

/** Asserts that a start prints one line and exits with 1, without listening. @returns the line */
async function startErrorOf(variables: Variables): Promise<string> {
  await using folder = await createFolder();
  await using service = new ServiceProcess(folder.path, { ...COMPLETE, ...variables });
  const { code, output, complaints } = await service.ended();
  assert.match(complaints, /^bookkeeping cannot start: [^\n]+\n$/);
  assert.deepEqual([code, output], [1, '']);
  return complaints.trimEnd();
}
