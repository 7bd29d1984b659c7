import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../test/support/cluster.ts';
import { BOOKS } from '../books.ts';
import { chooseGenerator } from '../load/generator.ts';
import { decimal, table } from '../markdown.ts';
import { Meter } from '../measure.ts';
import { TOKEN } from '../services/credentials.ts';
import { ServerProcess } from '../services/server-process.ts';
import {
  type Dependencies,
  type Service,
  type ServiceName,
  services,
  startService,
} from '../services/service.ts';
import { readCpuSeconds, readMemoryBytes, readWrittenBytes, waitUntilIdle } from '../services/usage.ts';
import { createDatabase } from '../tables/postgres.ts';

/**
 * Measures what requests, connections and starts cost, and prints tables: `node bench/extras/costs.ts [service,service…]`. By
 * default it takes two minutes.
 */

const [, , chosen = 'sqlite,postgres,textbook'] = process.argv;
const CLIENTS = [1, 32, 128];
const READ_CONNECTIONS = 32;
const SECONDS = 2;
const IDLE_CONNECTIONS = 1_000;
const SETTLE_MS = 2_000;
const STRACE = 'strace -D -f -c -qq --seccomp-bpf -e trace=fsync,fdatasync -o'.split(' ');

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-costs-'));
const meter = new Meter(chooseGenerator(), folder);
try {
  await using cluster = await startCluster();
  const dependenciesOf = (name: string): Dependencies => ({
    folder: join(folder, name),
    createDatabase: () => createDatabase(cluster.url, `costs_${name}`),
  });
  const rows: string[][] = [];
  for (const name of chosen.split(',') as ServiceName[]) {
    await using service = await startService(name, dependenciesOf(name));
    await service.table?.fill(BOOKS);
    // PostgreSQL's processes count, too.
    const pids = [service.server.pid, ...(service.databaseUrl === undefined ? [] : [cluster.pid ?? 0])];
    await measureRequests(service, 'get', READ_CONNECTIONS, pids);
    const costs = [await measureRequests(service, 'get', READ_CONNECTIONS, pids)];
    for (const clients of CLIENTS) costs.push(await measureRequests(service, 'post', clients, pids));
    rows.push([
      services[name],
      ...costs.flatMap(({ cpuMicroseconds, writtenBytes }) => [
        decimal(cpuMicroseconds),
        // Linux counts up to 1 MiB for each page that a commit of PostgreSQL changes.
        service.databaseUrl === undefined ? decimal(writtenBytes / 1_000, 1) : '–',
      ]),
      decimal((await measureConnection(service)) / 1_000, 1),
      ...(await measureStarts(service)),
    ]);
  }
  console.log(
    table(
      [
        'service',
        '>million reads: CPU s',
        '>GB written',
        ...CLIENTS.flatMap((clients) => [`>million creates, ${clients} clients: CPU s`, '>GB written']),
        '>idle connection, KB',
        '>start without compile cache, ms (MB)',
        '>with it',
      ],
      rows,
    ),
  );
  if (spawnSync('strace', ['-V']).status === 0) console.log(`\n${await countSyncs(dependenciesOf('syncs'))}`);
} finally {
  await rm(folder, { recursive: true });
}

interface Cost {
  /** Per request, which is seconds per million requests. */
  readonly cpuMicroseconds: number;
  readonly writtenBytes: number;
}

async function measureRequests(
  service: Service,
  workload: 'get' | 'post',
  connections: number,
  pids: readonly number[],
): Promise<Cost> {
  const used = () =>
    [readCpuSeconds, readWrittenBytes].map((read) => pids.reduce((sum, pid) => sum + read(pid), 0));
  const [cpuSeconds = 0, writtenBytes = 0] = used();
  const task = { service, workload, connections, seconds: SECONDS };
  const { responses, failures } = await meter.run({ ...task, books: BOOKS });
  if (failures > 0) throw new Error(`${failures} requests failed`);
  await waitUntilIdle(service.server.pid);
  const [cpuSecondsAfter = 0, writtenBytesAfter = 0] = used();
  return {
    cpuMicroseconds: ((cpuSecondsAfter - cpuSeconds) / responses) * 1e6,
    writtenBytes: (writtenBytesAfter - writtenBytes) / responses,
  };
}

/** @returns the memory that a connection takes, in bytes, after it has had one request */
async function measureConnection({ server }: Service): Promise<number> {
  const before = readMemoryBytes(server.pid);
  const { hostname, port } = new URL(server.url);
  const sockets: Socket[] = [];
  for (let count = 0; count < IDLE_CONNECTIONS; count++) {
    const socket = connect(Number(port), hostname);
    socket.write(`GET /book/1 HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${TOKEN}\r\n\r\n`);
    await once(socket, 'data');
    sockets.push(socket);
  }
  await sleep(SETTLE_MS);
  const after = readMemoryBytes(server.pid);
  for (const socket of sockets) socket.destroy();
  return (after - before) / IDLE_CONNECTIONS;
}

/** Starts the service twice with a compile cache that is empty at first. @returns what each start takes */
async function measureStarts({ program }: Service): Promise<string[]> {
  const variables = { ...program.variables, NODE_COMPILE_CACHE: join(program.folder, 'compiled') };
  const starts: string[] = [];
  while (starts.length < 2) {
    const startedAt = performance.now();
    await using server = await ServerProcess.start({ ...program, variables });
    const elapsedMs = performance.now() - startedAt;
    await sleep(SETTLE_MS);
    starts.push(`${decimal(elapsedMs)} (${decimal(readMemoryBytes(server.pid) / 1e6)})`);
  }
  return starts;
}

/** Counts the syncs of SQLite, and the pages that are written to the disk. */
async function countSyncs(dependencies: Dependencies): Promise<string> {
  const rows: string[][] = [];
  for (const clients of CLIENTS) {
    const summary = join(folder, `strace-${clients}`);
    let creates = 0;
    let writtenBytes = 0;
    {
      await using service = await startService('sqlite', { ...dependencies, launcher: [...STRACE, summary] });
      const { pid } = service.server;
      writtenBytes -= readWrittenBytes(pid);
      const task = { service, workload: 'post', connections: clients, seconds: SECONDS } as const;
      creates = (await meter.run({ ...task, books: BOOKS })).responses;
      await waitUntilIdle(pid);
      writtenBytes += readWrittenBytes(pid);
    }
    await sleep(SETTLE_MS);
    const calls = (await readFile(summary, 'utf8')).matchAll(
      /^ *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) .*sync$/gm,
    );
    const syncs = calls.reduce((sum, [, count]) => sum + Number(count), 0);
    rows.push([`${clients}`, ...[syncs, writtenBytes / 4_096].map((of) => decimal(of / creates, 3))]);
  }
  return table(['>clients', '>syncs of SQLite a create', '>pages of 4 KiB written'], rows);
}
