import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { Connection, Cut, request } from '../http/connection.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { createDatabase } from '../support/postgres.ts';
import { createBook, listTitles, ServiceProcess, startService, type Variables } from './service-process.ts';
import {
  askWho,
  findAnswering,
  GREETING,
  NAMING_PROCESSES,
  startTwoWorkers,
  type TwoWorkers,
} from './worker-processes.ts';

const COMPLETE = { SECRET_TOKEN: 'k'.repeat(32), AUTH_PASSWORD: 'hunter2', WORKERS: '2' };

describe('Two workers', { concurrency: 2 }, () => {
  test('answer on one port, and the process that started them does not', async () => {
    await using workers = await startTwoWorkers();
    const { parent } = await askWho(workers.service.url);

    assert.equal(new Set(workers.pids).size, 2);
    assert.ok(![...workers.pids, process.pid].includes(parent));
  });

  test('share books, tokens and what was generated', async () => {
    await using workers = await startTwoWorkers();
    const { service, token, pids } = workers;
    const titles = Array.from({ length: 10 }, (_, index) => `Volume ${index}`);
    for (const title of titles) await createBook(service, token, title);

    for (const _ of pids) assert.deepEqual([...(await listTitles(service, token)).values()], titles);
    assert.equal((await service.stop()).complaints, GREETING);
  });

  test('are replaced: when one is killed, the other goes on until there is a new one', async () => {
    await using workers = await startTwoWorkers();
    const { service, pids } = workers;
    const [killed = 0, other = 0] = pids;
    process.kill(killed, 'SIGKILL');
    const answering = await findAnswering(service.url, 2);

    assert.ok(answering.has(other) && !answering.has(killed));
    assert.equal(
      (await service.stop()).complaints,
      `${GREETING}bookkeeping: warning: worker ${killed} exited (SIGKILL) and is replaced\n`,
    );
  });

  test('are replaced by the like, whatever has become of .env', async () => {
    await using workers = await startTwoWorkers();
    const { service, token, pids, envFile } = workers;
    await createBook(service, token, 'Dune');
    await writeFile(envFile, 'DB_URL=sqlite:other.db\nSECRET_TOKEN=other\nAUTH_PASSWORD=other\n');
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await findAnswering(service.url, 2);

    for (const _ of pids) assert.deepEqual([...(await listTitles(service, token)).values()], ['Dune']);
  });
});

describe('Workers end', { concurrency: 2, timeout: 120_000 }, () => {
  test('with 0 and in silence, when signals reach all processes again and again', async () => {
    await using workers = await startTwoWorkers();
    const { service, pids } = workers;
    const requests = await beginRequests(workers);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
      service.signal(signal);
      for (const pid of pids) process.kill(pid, signal);
    }
    await service.refusesConnections();

    await finishRequests(requests);
    const { code, complaints } = await service.ended();
    assert.deepEqual([code, complaints], [0, GREETING]);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`at ${signal} to the one that started them, under load, and lose nothing`, async () => {
      await using workers = await startTwoWorkers();
      const { service, database } = workers;
      const requests = await beginRequests(workers);
      const acknowledged: number[] = [];
      const clients = Array.from({ length: 16 }, () => createUntilSentAway(workers, acknowledged));
      while (acknowledged.length < 200) await new Promise(setImmediate);
      service.signal(signal);
      await service.refusesConnections();

      await finishRequests(requests);
      await Promise.all(clients);
      assert.equal((await service.ended()).code, 0);
      const books = await database.query<{ id: string }>('select id from books');
      const stored = new Set(books.map(({ id }) => Number(id)));
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
      );
    });
  }

  test('when clients stall, and when a worker hangs', async () => {
    await using workers = await startTwoWorkers();
    const { service, pids } = workers;
    const stalled = await beginRequests(workers);
    process.kill(pids[0] ?? 0, 'SIGSTOP');

    assert.equal((await service.stop()).code, 0);
    for (const connection of stalled) assert.equal(await connection.rest(), '');
  });

  test('when the one that started them is killed, after the requests under way', async () => {
    await using workers = await startTwoWorkers();
    const { service } = workers;
    const requests = await beginRequests(workers);
    service.signal('SIGKILL');
    await service.refusesConnections();

    await finishRequests(requests);
    // Its output closes when nobody holds it any more.
    await service.ended();
  });
});

const BODY = '{"title":"The Iliad","author":"Homer","year":-750}';

/** Clients that have sent the first half of a POST /book, which is being read by one of the workers. */
async function beginRequests({ service, token }: TwoWorkers): Promise<readonly Connection[]> {
  const head = [`Authorization: ${token}`, 'Expect: 100-continue', `Content-Length: ${BODY.length}`];
  return Promise.all(
    Array.from({ length: 8 }, async () => {
      const connection = await Connection.open(service);
      await connection.send(request('POST /book', head));
      assert.equal((await connection.answer()).status, 100);
      await connection.send(BODY.slice(0, 20));
      return connection;
    }),
  );
}

/** Sends the other half, and asserts that the book is created, with the last answer of the connection. */
async function finishRequests(connections: readonly Connection[]): Promise<void> {
  for (const connection of connections) await connection.send(BODY.slice(20));
  for (const connection of connections) {
    const { status, headers } = await connection.answer();
    assert.deepEqual([status, headers.get('connection')], [201, 'close']);
    assert.equal(await connection.rest(), '');
  }
}

/** Creates books on one connection until it is closed, and notes what was acknowledged. */
async function createUntilSentAway({ service, token }: TwoWorkers, acknowledged: number[]): Promise<void> {
  using connection = await Connection.open(service);
  try {
    for (let isLast = false; !isLast; ) {
      await connection.send(request('POST /book', [`Authorization: ${token}`], BODY));
      const { status, headers, body } = await connection.answer();
      assert.equal(status, 201);
      acknowledged.push((JSON.parse(body) as { data: { id: number } }).data.id);
      isLast = headers.get('connection') === 'close';
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
  }
}

describe('A start of workers fails with one line:', { concurrency: 2 }, () => {
  test('a number that is none', async () => {
    assert.match(await complaintAbout({ WORKERS: 'all' }), /WORKERS: must be a whole number from 1 to 64$/);
  });

  test('a PostgreSQL server that is not there', async () => {
    const DB_URL = `postgres://app:hunter2@127.0.0.1:${await findFreePort()}/books`;
    assert.match(await complaintAbout({ DB_URL }), /cannot be reached \(ECONNREFUSED\)$/);
  });

  test('a port that is taken, and an address that is not of this machine', async () => {
    await using database = await createDatabase();
    await using owner = createServer().listen(0, '127.0.0.1');
    await once(owner, 'listening');
    const PORT = `${(owner.address() as AddressInfo).port}`;

    const DB_URL = database.url;
    assert.match(
      await complaintAbout({ DB_URL, PORT }),
      new RegExp(`the port ${PORT} is already in use; set PORT to another one$`),
    );
    assert.match(await complaintAbout({ DB_URL, HOST: '192.0.2.1' }), /see HOST and PORT$/);
  });
});

/** Asserts that a start ends with exit code 1 and one line, without having listened. @returns the line */
async function complaintAbout(variables: Variables): Promise<string> {
  await using folder = await createFolder();
  await using service = new ServiceProcess(folder.path, { ...COMPLETE, ...variables });
  const { code, output, complaints } = await service.ended();
  assert.match(complaints, /^bookkeeping cannot start: [^\n]+\n$/);
  assert.deepEqual([code, output], [1, '']);
  return complaints.trimEnd();
}

test('On SQLite WORKERS is ignored, with a warning', async () => {
  await using folder = await createFolder();
  await using service = await startService(folder.path, { ...COMPLETE, WORKERS: '4' }, NAMING_PROCESSES);

  assert.equal((await askWho(service.url)).parent, process.pid);
  assert.equal(
    (await service.stop()).complaints,
    'bookkeeping: warning: WORKERS is ignored: SQLite is served by one process\n',
  );
});
