import { spawnSync } from 'node:child_process';
import { BOOKS } from '../books.ts';
import type { Meter } from '../measure.ts';
import { type Dependencies, type Service, startService } from '../services/service.ts';

/** The cost of concurrent writes to reads on a slow disk. */
export interface SlowDiskResult {
  readonly readsPerSecond: Readonly<Record<Scenario, number>>;
  readonly readP99Ms: Readonly<Record<Scenario, number>>;
  readonly writesPerSecond: number;
}

type Scenario = 'withoutWriters' | 'withWriters';

export const FSYNC_DELAY_MS = 5;
export const READERS = 16;
export const WRITERS = 8;
const SECONDS = 3;

/** Delays every fsync of a program, and nothing else (strace(1), "Tampering"). */
const INJECTION = `inject=fsync,fdatasync:delay_enter=${FSYNC_DELAY_MS}ms`;
const LAUNCHER = `strace -D -f -qq --seccomp-bpf -o /dev/null -e trace=fsync,fdatasync -e ${INJECTION}`.split(
  ' ',
);

/** Measures a service on SQLite with a slow disk. @returns undefined if strace is not installed */
export async function measureSlowDisk(
  dependencies: Dependencies,
  meter: Meter,
): Promise<SlowDiskResult | undefined> {
  if (spawnSync('strace', ['-V']).status !== 0) return undefined;
  await using service = await startService('sqlite', { ...dependencies, launcher: LAUNCHER });
  await service.table?.fill(BOOKS);
  const read = () => measure(service, meter, 'get', READERS);
  await read();
  const withoutWriters = await read();
  const [withWriters, writers] = await Promise.all([read(), measure(service, meter, 'post', WRITERS)]);
  return {
    readsPerSecond: { withoutWriters: withoutWriters.perSecond, withWriters: withWriters.perSecond },
    readP99Ms: { withoutWriters: withoutWriters.p99Ms, withWriters: withWriters.p99Ms },
    writesPerSecond: writers.perSecond,
  };
}

async function measure(service: Service, meter: Meter, workload: 'get' | 'post', connections: number) {
  const { responses, seconds, p99Ms, failures } = await meter.run({
    service,
    workload,
    books: BOOKS,
    connections,
    seconds: SECONDS,
  });
  if (failures > 0) throw new Error(`${failures} requests failed on a slow disk`);
  return { perSecond: responses / seconds, p99Ms };
}
