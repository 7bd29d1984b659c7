import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOOKS } from './books.ts';
import type { Meter } from './measure.ts';
import { TOKEN } from './services/credentials.ts';
import { sendRequest } from './services/send-request.ts';
import type { Service } from './services/service.ts';
import { readMemoryBytes, readPeakMemoryBytes, resetPeakMemory, waitUntilIdle } from './services/usage.ts';
import { median } from './statistics.ts';

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

type ListLoad = 'none' | 'reading' | 'stalled';
type Latencies = Record<ListLoad, number>;

const LONG_LIST_BOOKS = 100 * BOOKS;
/** The reads that times are medians of. */
export const READS = 3;
const ROUNDS = 3;
/** Of GET one while the list is read. */
export const CONNECTIONS = 32;
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
    reads.push(await readList(url));
    await waitUntilIdle(pid);
  }
  const readingBytes = readPeakMemoryBytes(pid) - idleBytes;
  resetPeakMemory(pid);
  await readList(url, { stallMs: STALL_MS });
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

/** Measures the latency of GET one, in turn with each list load. */
async function measureLatency(
  service: Service,
  meter: Meter,
): Promise<Pick<LongListResult, 'p99Ms' | 'p99Ratio'>> {
  const { pid, url } = service.server;
  const p99OfGets = async () => {
    const load = { service, workload: 'get', connections: CONNECTIONS, seconds: SECONDS } as const;
    const { failures, p99Ms } = await meter.run({ ...load, books: LONG_LIST_BOOKS });
    return failures > 0 ? Number.NaN : p99Ms;
  };
  await p99OfGets();
  const rounds: Latencies[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const none = await p99OfGets();
    const reading = await whileClient(p99OfGets, async (signal) => {
      while (!signal.aborted) await readList(url, { signal });
    });
    await waitUntilIdle(pid);
    const stalled = await whileClient(p99OfGets, (signal) => readList(url, { stallMs: 60_000, signal }));
    await waitUntilIdle(pid);
    rounds.push({ none, reading, stalled });
  }
  const medians = (value: (latencies: Latencies, load: ListLoad) => number): Latencies => {
    const of = (load: ListLoad) => medianOf(rounds.map((latencies) => value(latencies, load)));
    return { none: of('none'), reading: of('reading'), stalled: of('stalled') };
  };
  return {
    p99Ms: medians((latencies, load) => latencies[load]),
    p99Ratio: medians((latencies, load) => latencies[load] / latencies.none),
  };
}

/** Measures while another client reads, which is aborted afterwards. @throws Error when it fails before */
async function whileClient(
  measure: () => Promise<number>,
  read: (signal: AbortSignal) => Promise<unknown>,
): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const [value] = await Promise.all([
    measure().finally(() => controller.abort()),
    read(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  ]);
  return value;
}

/**
 * Reads `GET /books` on a new connection, with a pause after the first byte.
 *
 * @throws Error when the list is truncated, or the signal aborts
 */
async function readList(
  url: string,
  { stallMs = 0, signal }: { readonly stallMs?: number; readonly signal?: AbortSignal } = {},
): Promise<{ firstByteMs: number; totalMs: number; bytes: number }> {
  const startedAt = performance.now();
  const options = { agent: false, headers: { authorization: TOKEN }, ...(signal && { signal }) };
  const [response] = (await once(request(`${url}/books`, options).end(), 'response')) as [IncomingMessage];
  const firstByteMs = performance.now() - startedAt;
  await sleep(stallMs, undefined, { signal });
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  return { firstByteMs, totalMs: performance.now() - startedAt, bytes };
}

function medianOf(values: readonly number[]): number {
  return median(values) ?? Number.NaN;
}
