import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../testkit/cluster.ts';
import { query } from '../../testkit/sql.ts';
import { decimal, table } from '../markdown.ts';
import { TOKEN } from '../services/credentials.ts';
import { startService } from '../services/service.ts';
import { readCpuSeconds, readMemoryBytes, waitUntilIdle } from '../services/usage.ts';
import { createDatabase } from '../tables/postgres.ts';

/**
 * Measures requests that wait for a change, and prints a table: `ulimit -n 20000; node bench/extras/followers.ts [COUNT]`. It
 * takes two minutes.
 */

const COUNT = Number(process.argv[2] ?? 10_000);
const IDLE_SECONDS = 10;
/** PostgreSQL counts the transactions of a connection that is idle after 10 seconds. */
const SETTLE_MS = 11_000;
const OPENED_AT_ONCE = 100;

/** The header and the query of each kind of request, and the text that shows that it waits. */
const KINDS = {
  'server-sent events': { accept: 'text/event-stream', query: '' },
  'long polls': { accept: 'application/json', query: '&wait=60' },
};

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-followers-'));
try {
  await using cluster = await startCluster();
  const rows: string[][] = [];
  for (const name of ['sqlite', 'postgres'] as const) {
    for (const [kind, { accept, query: parameters }] of Object.entries(KINDS)) {
      const place = `${name}_${accept.replace(/.*\W/, '')}`;
      await using service = await startService(name, {
        folder: join(folder, place),
        createDatabase: () => createDatabase(cluster.url, place),
        variables: { HISTORY: 'on', CONNECTIONS_MAX: `${COUNT + 1_000}` },
      });
      const { pid, url } = service.server;
      await createBook(url);
      const path = `/changes?after=${await readCursor(url)}${parameters}`;
      await waitUntilIdle(pid);
      const memory = readMemoryBytes(pid);
      const sockets: Socket[] = [];
      while (sockets.length < COUNT)
        sockets.push(
          ...(await Promise.all(open(url, path, accept, Math.min(OPENED_AT_ONCE, COUNT - sockets.length)))),
        );
      while ((await readMetric(url, 'bookkeeping_followers')) < COUNT) await sleep(100);
      await sleep(SETTLE_MS);
      const bytesEach = (readMemoryBytes(pid) - memory) / COUNT;
      const [cpu, polls] = [readCpuSeconds(pid), await countTransactions(service.databaseUrl)];
      await sleep(IDLE_SECONDS * 1_000);
      const idleCpu = (readCpuSeconds(pid) - cpu) / IDLE_SECONDS;
      const pollsEach = ((await countTransactions(service.databaseUrl)) - polls) / IDLE_SECONDS;
      const received = Promise.all(sockets.map((socket) => receiveChange(socket)));
      const writtenAt = performance.now();
      const cpuBefore = readCpuSeconds(pid);
      await createBook(url);
      const respondedMs = performance.now() - writtenAt;
      const times = (await received).map((at) => at - writtenAt).toSorted((one, other) => one - other);
      rows.push([
        `${service.name}, ${kind}`,
        decimal(bytesEach / 1_000, 1),
        decimal(idleCpu * 100, 1),
        service.databaseUrl === undefined ? '' : decimal(pollsEach, 1),
        decimal(respondedMs),
        decimal(times[0] ?? 0),
        decimal(times.at(-1) ?? 0),
        decimal((readCpuSeconds(pid) - cpuBefore) * 1_000),
      ]);
      for (const socket of sockets) socket.destroy();
    }
  }
  const columns = [
    `${COUNT} waiting`,
    '>KB each',
    '>CPU while they wait, %',
    '>transactions of PostgreSQL a second',
    '>response to the write, ms',
    '>first has the change, ms',
    '>last, ms',
    '>CPU, ms',
  ];
  console.log(table(columns, rows));
} finally {
  await rm(folder, { recursive: true });
}

function open(url: string, path: string, accept: string, count: number): Promise<Socket>[] {
  const { hostname, port } = new URL(url);
  return Array.from({ length: count }, async () => {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${TOKEN}\r\nAccept: ${accept}\r\n\r\n`,
    );
    socket.resume();
    return socket;
  });
}

/** @returns when the change has arrived */
function receiveChange(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    socket.on('data', (bytes) => {
      if (bytes.includes('"type":"created"')) resolve(performance.now());
    });
  });
}

async function createBook(url: string): Promise<void> {
  const headers = { Authorization: TOKEN };
  const { status } = await fetch(`${url}/book`, { method: 'POST', headers, body: '{"title":"new"}' });
  if (status !== 201) throw new Error(`status ${status}`);
}

async function readCursor(url: string): Promise<string> {
  const response = await fetch(`${url}/changes`, { headers: { Authorization: TOKEN } });
  const { data } = (await response.json()) as { data: { cursor: string }[] };
  return data.at(-1)?.cursor ?? '';
}

async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

async function countTransactions(databaseUrl: string | undefined): Promise<number> {
  if (databaseUrl === undefined) return 0;
  await query(databaseUrl, 'select pg_stat_force_next_flush()');
  const [row] = await query(
    databaseUrl,
    'select xact_commit from pg_stat_database where datname = current_database()',
  );
  return Number(row?.xact_commit);
}
