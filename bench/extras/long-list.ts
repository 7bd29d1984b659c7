import { setTimeout as sleep } from 'node:timers/promises';
import { BOOKS } from '../books.ts';
import type { Meter } from '../measure.ts';
import { TARGET_CONNECTIONS } from '../options.ts';
import { ask } from '../services/ask.ts';
import type { Service } from '../services/service.ts';
import { becomesQuiet, readMemoryBytes, readPeakMemoryBytes, resetPeakMemory } from '../services/usage.ts';
import { median } from '../statistics.ts';
import { ListReader } from './list-reader.ts';

/** How a service fares with a very long list. */
export interface LongListResult {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly bytes: number;
  /** The most memory above that of the idle process, in bytes, while one client reads. */
  readonly readingBytes: number;
  /** The same while one client stalls after the first byte, and then reads on. */
  readonly stalledBytes: number;
  /** GET one without a list under way, beside one, and beside a stalled one. */
  readonly p99Ms: Readonly<Record<Beside, number>>;
  /** As multiples of what it is without, in the same round. */
  readonly p99Ratio: Readonly<Record<Beside, number>>;
}

const BESIDE = ['nothing', 'reading', 'stalled'] as const;
export type Beside = (typeof BESIDE)[number];

export const LONG_LIST_BOOKS = 100 * BOOKS;
/** How often the list is read for the times. */
export const READS = 3;
const ROUNDS = 3;
const SECONDS = 2;
const SETTLE_MS = 2_000;
const STALL_MS = 3_000;

/** Fills a freshly started service with {@link LONG_LIST_BOOKS} books and reads the list of them. */
export async function measureLongList(service: Service, meter: Meter): Promise<LongListResult> {
  const { pid, url } = service.server;
  await service.table?.fill(LONG_LIST_BOOKS);
  await ask(url, 'GET /book/1');
  await sleep(SETTLE_MS);
  const idleBytes = readMemoryBytes(pid);

  resetPeakMemory(pid);
  const reads = [];
  for (let read = 0; read < READS; read++) {
    using reader = await ListReader.open(url);
    reads.push(await reader.ends());
    await becomesQuiet(pid);
  }
  const readingBytes = readPeakMemoryBytes(pid) - idleBytes;
  resetPeakMemory(pid);
  await readWithStall(url);
  const stalledBytes = readPeakMemoryBytes(pid) - idleBytes;

  return {
    firstByteMs: middle(reads.map(({ firstByteMs }) => firstByteMs)),
    totalMs: middle(reads.map(({ totalMs }) => totalMs)),
    bytes: middle(reads.map(({ bytes }) => bytes)),
    readingBytes,
    stalledBytes,
    ...(await measureOthers(service, meter)),
  };
}

async function readWithStall(url: string): Promise<void> {
  using reader = await ListReader.open(url);
  await reader.begins();
  reader.stall();
  await sleep(STALL_MS);
  reader.resume();
  await reader.ends();
}

/** What others notice of a reader: GET one in turns without and beside it. */
async function measureOthers(
  service: Service,
  meter: Meter,
): Promise<Pick<LongListResult, 'p99Ms' | 'p99Ratio'>> {
  const rounds: Record<Beside, number>[] = [];
  const play = async () => {
    const played = await meter.play({
      service,
      workload: 'get',
      books: LONG_LIST_BOOKS,
      connections: TARGET_CONNECTIONS,
      seconds: SECONDS,
    });
    return played.failures > 0 ? Number.NaN : played.p99Ms;
  };
  await play();
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      nothing: await play(),
      reading: await besideReading(service, play),
      stalled: await besideStalled(service, play),
    });
  }
  const byBeside = (value: (p99Ms: Record<Beside, number>, beside: Beside) => number) =>
    Object.fromEntries(
      BESIDE.map((beside) => [beside, middle(rounds.map((p99Ms) => value(p99Ms, beside)))]),
    ) as Record<Beside, number>;
  return {
    p99Ms: byBeside((p99Ms, beside) => p99Ms[beside]),
    p99Ratio: byBeside((p99Ms, beside) => p99Ms[beside] / p99Ms.nothing),
  };
}

/** Reads one list after the other meanwhile. */
async function besideReading({ server }: Service, play: () => Promise<number>): Promise<number> {
  const isOver = new AbortController();
  const [p99Ms] = await Promise.all([
    play().finally(() => isOver.abort()),
    readOn(server.url, isOver.signal),
  ]);
  await becomesQuiet(server.pid);
  return p99Ms;
}

/** Reads lists until it is told to leave, in the middle of one. @throws Error when one is cut off before */
async function readOn(url: string, isOver: AbortSignal): Promise<void> {
  while (!isOver.aborted) {
    using reader = await ListReader.open(url);
    isOver.addEventListener('abort', () => reader.leave(), { once: true });
    await reader.ends().catch((error: unknown) => {
      if (!isOver.aborted) throw error;
    });
  }
}

/** Holds one list open that nobody reads on. */
async function besideStalled({ server }: Service, play: () => Promise<number>): Promise<number> {
  using reader = await ListReader.open(server.url);
  await reader.begins();
  reader.stall();
  return await play();
}

function middle(values: readonly number[]): number {
  return median(values) ?? Number.NaN;
}
