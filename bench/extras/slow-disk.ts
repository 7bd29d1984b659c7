import { spawnSync } from 'node:child_process';
import { BOOKS } from '../books.ts';
import type { Meter } from '../measure.ts';
import { type Service, type Surroundings, startService } from '../services/service.ts';

/** What reads pay when others write and the disk takes its time. */
export interface SlowDiskResult {
  readonly readsPerSecond: Readonly<Record<Company, number>>;
  readonly readP99Ms: Readonly<Record<Company, number>>;
  readonly writesPerSecond: number;
}

export type Company = 'alone' | 'besideWriters';

/** How much longer every fsync takes. */
export const FSYNC_DELAY_MS = 5;
export const READERS = 16;
export const WRITERS = 8;
const SECONDS = 3;

/** Makes the kernel wait before every fsync of a program (strace(1), "Tampering"); nothing else is slower. */
const INJECTION = `inject=fsync,fdatasync:delay_enter=${FSYNC_DELAY_MS}ms`;
const DELAYING = `strace -D -f -qq --seccomp-bpf -o /dev/null -e trace=fsync,fdatasync -e ${INJECTION}`.split(
  ' ',
);

/** Measures a service on SQLite with a slow disk. @returns undefined where strace is not installed */
export async function measureSlowDisk(
  surroundings: Surroundings,
  meter: Meter,
): Promise<SlowDiskResult | undefined> {
  if (spawnSync('strace', ['-V']).status !== 0) return undefined;
  await using service = await startService('sqlite', { ...surroundings, launcher: DELAYING });
  await service.table?.fill(BOOKS);
  const read = () => play(service, meter, 'get', READERS);
  await read();
  const alone = await read();
  const [besideWriters, writers] = await Promise.all([read(), play(service, meter, 'post', WRITERS)]);
  return {
    readsPerSecond: { alone: alone.perSecond, besideWriters: besideWriters.perSecond },
    readP99Ms: { alone: alone.p99Ms, besideWriters: besideWriters.p99Ms },
    writesPerSecond: writers.perSecond,
  };
}

async function play(service: Service, meter: Meter, workload: 'get' | 'post', connections: number) {
  const { answers, seconds, p99Ms, failures } = await meter.play({
    service,
    workload,
    books: BOOKS,
    connections,
    seconds: SECONDS,
  });
  if (failures > 0) throw new Error(`${failures} requests failed on a slow disk`);
  return { perSecond: answers / seconds, p99Ms };
}
