import { setTimeout as sleep } from 'node:timers/promises';
import { BOOKS } from '../books.ts';
import type { Meter } from '../measure.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import { sendRequest } from '../services/send-request.ts';
import type { Service } from '../services/service.ts';
import { readMemoryBytes, readPeakMemoryBytes, resetPeakMemory, waitUntilIdle } from '../services/usage.ts';
import { median } from '../statistics.ts';
import { ListReader } from './list-reader.ts';

export interface LongListResult {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
  /** Peak memory above that of the idle process, in bytes, while one client reads. */
  readonly readingBytes: number;
  /** The same while one client pauses after the first byte. */
  readonly stalledBytes: number;
  /** The latency of GET one, by what another client does with the list meanwhile. */
  readonly p99Ms: Readonly<Record<ListLoad, number>>;
  /** Relative to `none` in the same round. */
  readonly p99Ratio: Readonly<Record<ListLoad, number>>;
}

const LIST_LOADS = ['none', 'reading', 'stalled'] as const;
type ListLoad = (typeof LIST_LOADS)[number];

const LONG_LIST_BOOKS = 100 * BOOKS;
/** The reads that times are medians of. */
export const READS = 3;
const ROUNDS = 3;
const SECONDS = 2;
const SETTLE_MS = 2_000;
const STALL_MS = 3_000;

/** Fills a new service with {@link LONG_LIST_BOOKS} books and reads the list. */
export async function measureLongList(service: Service, meter: Meter): Promise<LongListResult> {
  const { pid, url } = service.server;
  await service.table?.fill(LONG_LIST_BOOKS);
  await sendRequest(url, 'GET /book/1');
  await sleep(SETTLE_MS);
  const idleBytes = readMemoryBytes(pid);

  resetPeakMemory(pid);
  const reads = [];
  for (let read = 0; read < READS; read++) {
    using reader = await ListReader.open(url);
    reads.push(await reader.complete());
    await waitUntilIdle(pid);
  }
  const readingBytes = readPeakMemoryBytes(pid) - idleBytes;
  resetPeakMemory(pid);
  await readWithStall(url);
  const stalledBytes = readPeakMemoryBytes(pid) - idleBytes;

  return {
    firstByteMs: medianOf(reads.map(({ firstByteMs }) => firstByteMs)),
    totalMs: medianOf(reads.map(({ totalMs }) => totalMs)),
    bytes: medianOf(reads.map(({ bytes }) => bytes)),
    readingBytes,
    stalledBytes,
    ...(await measureLatency(service, meter)),
  };
}

async function readWithStall(url: string): Promise<void> {
  using reader = await ListReader.open(url);
  await reader.firstByte();
  reader.pause();
  await sleep(STALL_MS);
  reader.resume();
  await reader.complete();
}

/** Measures the latency of GET one, in turn with each list load. */
async function measureLatency(
  service: Service,
  meter: Meter,
): Promise<Pick<LongListResult, 'p99Ms' | 'p99Ratio'>> {
  const rounds: Record<ListLoad, number>[] = [];
  const p99OfGets = async () => {
    const result = await meter.run({
      service,
      workload: 'get',
      books: LONG_LIST_BOOKS,
      connections: TARGET_CONNECTIONS,
      seconds: SECONDS,
    });
    return result.failures > 0 ? Number.NaN : result.p99Ms;
  };
  await p99OfGets();
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      none: await p99OfGets(),
      reading: await whileReading(service, p99OfGets),
      stalled: await whileStalled(service, p99OfGets),
    });
  }
  const byLoad = (value: (p99Ms: Record<ListLoad, number>, load: ListLoad) => number) =>
    Object.fromEntries(
      LIST_LOADS.map((load) => [load, medianOf(rounds.map((p99Ms) => value(p99Ms, load)))]),
    ) as Record<ListLoad, number>;
  return {
    p99Ms: byLoad((p99Ms, load) => p99Ms[load]),
    p99Ratio: byLoad((p99Ms, load) => p99Ms[load] / p99Ms.none),
  };
}

async function whileReading({ server }: Service, measure: () => Promise<number>): Promise<number> {
  const controller = new AbortController();
  const [p99Ms] = await Promise.all([
    measure().finally(() => controller.abort()),
    readLists(server.url, controller.signal),
  ]);
  await waitUntilIdle(server.pid);
  return p99Ms;
}

/** Reads lists until the signal aborts. @throws Error when one is truncated before */
async function readLists(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    using reader = await ListReader.open(url);
    signal.addEventListener('abort', () => reader.close(), { once: true });
    await reader.complete().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

async function whileStalled({ server }: Service, measure: () => Promise<number>): Promise<number> {
  using reader = await ListReader.open(server.url);
  await reader.firstByte();
  reader.pause();
  return await measure();
}

function medianOf(values: readonly number[]): number {
  return median(values) ?? Number.NaN;
}
