import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOOKS } from '../books.ts';
import { decimal, table } from '../markdown.ts';
import type { Meter } from '../measure.ts';
import { TOKEN } from '../services/credentials.ts';
import { ServerProcess } from '../services/server-process.ts';
import {
  type Dependencies,
  type Service,
  type ServiceName,
  services,
  startIfInstalled,
  startService,
} from '../services/service.ts';
import { readCpuSeconds, readMemoryBytes, readWrittenBytes, waitUntilIdle } from '../services/usage.ts';

const CLIENTS = [1, 32, 128];
export const READ_CONNECTIONS = 32;
const SECONDS = 2;
const IDLE_CONNECTIONS = 1_000;
const SETTLE_MS = 2_000;
const STRACE = 'strace -D -f -c -qq --seccomp-bpf -e trace=fsync,fdatasync -o'.split(' ');

interface CostTools {
  readonly meter: Meter;
  readonly dependenciesOf: (name: string) => Dependencies;
  /** The process of PostgreSQL, whose costs count, too. */
  readonly postgresPid: number;
}

/** Measures what requests, connections and starts cost. @returns tables of the report */
export async function measureCosts(names: readonly ServiceName[], tools: CostTools): Promise<string> {
  const { meter, dependenciesOf, postgresPid } = tools;
  const rows: string[][] = [];
  for (const name of names) {
    await using service = await startIfInstalled(name, dependenciesOf(`${name}-costs`));
    if (!service) continue;
    const { server, table: books, databaseUrl } = service;
    if (!books) continue;
    await books.fill(BOOKS);
    const pids = [server.pid, ...(databaseUrl === undefined ? [] : [postgresPid])];
    const measureTask = (workload: 'get' | 'post', connections: number) =>
      measureRequests(service, { workload, connections }, pids, meter);
    await measureTask('get', READ_CONNECTIONS);
    const costs = [await measureTask('get', READ_CONNECTIONS)];
    for (const clients of CLIENTS) costs.push(await measureTask('post', clients));
    rows.push([
      services[name],
      ...costs.flatMap(({ cpuMicroseconds, writtenBytes }) => [
        decimal(cpuMicroseconds),
        // Linux counts up to 1 MiB for each page that a commit of PostgreSQL changes.
        databaseUrl === undefined ? decimal(writtenBytes / 1_000, 1) : '–',
      ]),
      decimal((await measureConnection(service)) / 1_000, 1),
      ...(await measureStarts(service)),
    ]);
  }
  const costs = table(
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
  );
  const hasStrace = spawnSync('strace', ['-V']).status === 0;
  return hasStrace ? `${costs}\n\n${await countSyncs(dependenciesOf('syncs'), meter)}` : costs;
}

interface Cost {
  /** Per request, which is seconds per million requests. */
  readonly cpuMicroseconds: number;
  readonly writtenBytes: number;
}

async function measureRequests(
  service: Service,
  task: { readonly workload: 'get' | 'post'; readonly connections: number },
  pids: readonly number[],
  meter: Meter,
): Promise<Cost> {
  const used = () =>
    [readCpuSeconds, readWrittenBytes].map((read) => pids.reduce((sum, pid) => sum + read(pid), 0));
  const [cpuSeconds = 0, writtenBytes = 0] = used();
  const { responses, failures } = await meter.run({ ...task, service, seconds: SECONDS, books: BOOKS });
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
async function countSyncs(dependencies: Dependencies, meter: Meter): Promise<string> {
  const rows: string[][] = [];
  for (const clients of CLIENTS) {
    const summary = join(dependencies.folder, `strace-${clients}`);
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
