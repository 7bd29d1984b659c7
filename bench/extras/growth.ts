import { readdirSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Random } from '../../campaigns/random.ts';
import { startCluster } from '../../testkit/cluster.ts';
import { makeBooks } from '../books.ts';
import { describeMachine } from '../machine.ts';
import { decimal, table } from '../report/markdown.ts';
import { TOKEN } from '../services/credentials.ts';
import { ServerProcess } from '../services/server-process.ts';
import { type Service, services, startService } from '../services/service.ts';
import { median } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';
import { rateOf } from './rate.ts';

/**
 * Measures how cost grows with the number of books, for bench/MEASUREMENTS.md, and prints a table:
 * `node bench/extras/growth.ts [books,books…] [engine]`. By default it takes half an hour, most of it for search indexes,
 * and 15 GB.
 */

const [, , only, engine] = process.argv;
const SIZES: Readonly<Record<'sqlite' | 'postgres', readonly number[]>> = {
  sqlite: [10_000, 100_000, 1_000_000],
  postgres: [10_000, 100_000, 1_000_000, 10_000_000],
};
/** Indexing more books takes too long. */
const INDEXED_BOOKS_MAX = 1_000_000;
const CONNECTIONS = 32;
const SECONDS = 8;
const STARTS = 3;
const PAGE = 'limit=50';
const REQUESTS = 10_000;

/** The costs at one size; rates are requests/s. */
interface Costs {
  readonly books: number;
  readonly fillSeconds: number;
  readonly startMs: number;
  readonly bytesEach: number;
  readonly get: number;
  readonly post: number;
  readonly page: number;
  readonly pageByTitle?: number;
  readonly postIndexed?: number;
  readonly indexSeconds?: number;
  readonly indexBytesEach?: number;
}

const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-growth-'));
try {
  console.log(
    `${describeMachine(folder)
      .map(([name, value]) => `${name}: ${value}`)
      .join('; ')}\n`,
  );
  for (const name of ['sqlite', 'postgres'] as const) {
    if (engine !== undefined && engine !== name) continue;
    const rows: Costs[] = [];
    for (const books of only?.split(',').map(Number) ?? SIZES[name]) rows.push(await measure(name, books));
    console.log(`${services[name]}, ${CONNECTIONS} connections\n\n${render(rows)}\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}

/** Fills a new store with `books` books and measures it. */
async function measure(name: 'sqlite' | 'postgres', books: number): Promise<Costs> {
  await using cluster = name === 'postgres' ? await startCluster() : undefined;
  const serviceFolder = join(folder, `${name}-${books}`);
  await using service = await startService(name, {
    folder: serviceFolder,
    createDatabase: () => createDatabase(cluster?.url ?? '', 'growth'),
  });
  const filledAt = performance.now();
  await service.table?.fill(books);
  const fillSeconds = (performance.now() - filledAt) / 1_000;
  const bytesEach = (await sizeOf(service, 'books')) / books;
  const rate = (requests: readonly string[]) =>
    rateOf(service, { requests, connections: CONNECTIONS, seconds: SECONDS });
  const random = new Random(books);
  const gets = Array.from({ length: REQUESTS }, () => `GET /book/${1 + random.below(books)}`);
  const posts = makeBooks(REQUESTS, 1).map((book) => `POST /book ${JSON.stringify(book)}`);

  const startsMs: number[] = [];
  while (startsMs.length < STARTS) startsMs.push(await timeStart(service));
  const withoutIndex = {
    books,
    fillSeconds,
    startMs: median(startsMs) ?? Number.NaN,
    bytesEach,
    get: await rate(gets),
    page: await rate([`GET /books?${PAGE}`]),
    post: await rate(posts),
  };
  if (books > INDEXED_BOOKS_MAX) return withoutIndex;
  const indexSeconds = await buildIndex(service.server.url);
  return {
    ...withoutIndex,
    indexSeconds,
    indexBytesEach: (await sizeOf(service, 'book_search')) / (books + withoutIndex.post * SECONDS),
    pageByTitle: await rate([`GET /books?sort=title&${PAGE}`]),
    postIndexed: await rate(posts),
  };
}

/** Starts another process on the same books. @returns milliseconds to its first response */
async function timeStart({ program }: Service): Promise<number> {
  const startedAt = performance.now();
  const server = await ServerProcess.start(program);
  const elapsedMs = performance.now() - startedAt;
  await server[Symbol.asyncDispose]();
  return elapsedMs;
}

/** Makes the service build its search index. @returns the seconds that it takes */
async function buildIndex(url: string): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const requestedAt = performance.now();
    // With an index, a search without matches is fast; without one, it scans all books.
    const { status } = await fetch(`${url}/books?q=zzzzz&limit=1`, { headers: { authorization: TOKEN } });
    const isIndexed = status === 200 && performance.now() - requestedAt < 100;
    if (isIndexed) return (performance.now() - startedAt) / 1_000;
    await sleep(1_000);
  }
}

/** The bytes of a table with its indexes. SQLite's search index is a file of its own. */
async function sizeOf(service: Service, name: 'books' | 'book_search'): Promise<number> {
  const { databaseUrl } = service;
  if (databaseUrl !== undefined) {
    const client = new Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query<{ bytes: string }>(`select pg_total_relation_size($1) as bytes`, [
      name,
    ]);
    await client.end();
    return Number(rows[0]?.bytes);
  }
  const files = readdirSync(service.program.folder);
  const file = name === 'books' ? 'books.db' : files.find((one) => /^books\.db-search-[0-9a-f]+$/.test(one));
  return file === undefined ? 0 : (await stat(join(service.program.folder, file))).size;
}

function render(rows: readonly Costs[]): string {
  const [first] = rows;
  return table(
    [
      '>books',
      '>GET one/s',
      '>POST/s',
      '>first page/s',
      '>start, ms',
      '>bytes/book',
      '>index built in, s',
      '>index bytes/book',
      '>POST/s with index',
      '>first page by title/s',
      '>filled in, s',
    ],
    rows.map((row) => [
      decimal(row.books),
      renderRate(row.get, first?.get),
      renderRate(row.post, first?.post),
      renderRate(row.page, first?.page),
      decimal(row.startMs),
      decimal(row.bytesEach),
      decimal(row.indexSeconds),
      decimal(row.indexBytesEach),
      renderRate(row.postIndexed, first?.postIndexed),
      renderRate(row.pageByTitle, first?.pageByTitle),
      decimal(row.fillSeconds, 1),
    ]),
  );
}

/** A rate, and its ratio to the rate at the first size. */
function renderRate(value: number | undefined, base: number | undefined): string {
  if (value === undefined || base === undefined) return '–';
  return `${decimal(value)} (${decimal(value / base, 2)})`;
}
