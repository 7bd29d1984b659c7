import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Random } from '../../campaigns/random.ts';
import { startCluster } from '../../testkit/cluster.ts';
import { makeLibrary, VOCABULARY } from '../library.ts';
import { describeMachine } from '../machine.ts';
import { decimal, table } from '../report/markdown.ts';
import { TOKEN } from '../services/credentials.ts';
import { ENGINES, type Engine, type Service, startService } from '../services/service.ts';
import { readMemoryBytes, readPeakMemoryBytes, resetPeakMemory, waitUntilIdle } from '../services/usage.ts';
import { percentile } from '../statistics.ts';

/**
 * Measures how cost grows with the number of books, for bench/MEASUREMENTS.md, and prints a table:
 * `node bench/extras/growth.ts [books,books…] [engine] [folder] [url]`. Ten million books take half an hour and 12 GB.
 *
 * The stores are filled by the command `import`, and deleted at the end; those in a given folder, and in databases of a given
 * PostgreSQL server, are kept, with the times of import and index, and measured again the next time.
 */

const [, , only = '10000,1000000,10000000', engine, kept, server] = process.argv;
const SIZES = only.split(',').map(Number);
/** Of each kind of request. */
const REQUESTS = 100;
const SECONDS_MAX = 10;
const BOOKKEEPING = join(import.meta.dirname, '..', '..', 'bin', 'bookkeeping.mjs');
const agent = new Agent({ keepAlive: true });

/** The cells of one column of the table, by the names of the rows. */
type Costs = Map<string, string>;

const folder = kept ?? (await mkdtemp(join(tmpdir(), 'bookkeeping-growth-')));
await mkdir(folder, { recursive: true });
try {
  const columns: [title: string, costs: Costs][] = [];
  for (const name of Object.keys(ENGINES) as Engine[])
    for (const books of engine === undefined || engine === name ? SIZES : [])
      columns.push([`>${ENGINES[name]}, ${decimal(books)}`, await measure(name, books)]);
  const labels = [...(columns[0]?.[1].keys() ?? [])];
  const machine = describeMachine(folder).map(([name, value]) => `${name}: ${value}`);
  console.log(`${machine.join('; ')}\n`);
  console.log(
    table(
      ['books', ...columns.map(([title]) => title)],
      labels.map((label) => [label, ...columns.map(([, costs]) => costs.get(label) ?? '–')]),
    ),
  );
} finally {
  if (kept === undefined) await rm(folder, { recursive: true });
}

async function measure(name: Engine, books: number): Promise<Costs> {
  await using cluster = name === 'postgres' && server === undefined ? await startCluster() : undefined;
  const place = join(folder, `${name}-${books}`);
  await mkdir(place, { recursive: true });
  const databaseUrl =
    name === 'postgres'
      ? await useDatabase(cluster?.url ?? server ?? '', `growth_${books}`)
      : `sqlite:${join(place, 'books.db')}`;
  const importSeconds = await takeOnce(join(place, 'import'), () => importLibrary(place, databaseUrl, books));
  await using service = await startService(name, {
    folder: place,
    createDatabase: () => Promise.resolve(databaseUrl),
  });
  const indexSeconds = await takeOnce(join(place, 'index'), () => buildIndex(service.server.url));
  const { url } = service.server;
  const costs: Costs = new Map([
    ['import, rows/s', decimal(books / importSeconds)],
    ['table, bytes a book', decimal((await sizeOf(service, 'books')) / books)],
    ['index built in, s', decimal(indexSeconds, 1)],
    ['index, bytes a book', decimal((await sizeOf(service, 'book_search')) / books)],
  ]);
  for (const [kind, paths] of Object.entries(await requestsOf(url, books))) {
    const times = await timeRequests(url, paths);
    costs.set(
      `${kind}, p50 / p95, ms`,
      `${decimal(percentile(times, 50), 1)} / ${decimal(percentile(times, 95), 1)}`,
    );
  }
  for (const [label, value] of await measureList(service)) costs.set(label, value);
  return costs;
}

/** Fills a store, unless that was done in this folder before. @returns the seconds that it took */
async function takeOnce(file: string, fill: () => Promise<number>): Promise<number> {
  if (!existsSync(file)) writeFileSync(file, `${await fill()}`);
  return Number(readFileSync(file, 'utf8'));
}

/** Imports the books into an empty store. @returns the seconds that it takes */
async function importLibrary(place: string, databaseUrl: string, books: number): Promise<number> {
  const file = join(place, 'library.csv');
  await writeLibrary(file, books);
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [BOOKKEEPING, 'import', file], {
    cwd: place,
    env: { ...process.env, DB_URL: databaseUrl },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the import has failed: ${stderr}`);
  await rm(file);
  return secondsSince(startedAt);
}

async function writeLibrary(path: string, books: number): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 1_000_000 });
  file.write('title,author,year\n');
  let lines = '';
  for (const { title, author, year } of makeLibrary(books)) {
    lines += `"${title}",${author},${year}\n`;
    if (lines.length < 100_000) continue;
    if (!file.write(lines)) await once(file, 'drain');
    lines = '';
  }
  file.end(lines);
  await once(file, 'close');
}

/** Makes the service build its search index, and prints its progress. @returns the seconds that it takes */
async function buildIndex(url: string): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const { status, detail } = await get(url, '/books?q=zzzzz&limit=1');
    if (status === 200) return secondsSince(startedAt);
    console.error(`${decimal(secondsSince(startedAt))} s: ${detail}`);
    // An unready index is 503 after 5 s.
    await sleep(100);
  }
}

/** The requests of each kind, which differ, so that few results are in a cache. */
async function requestsOf(url: string, books: number): Promise<Record<string, string[]>> {
  const random = new Random(books);
  const stored: StoredBook[] = [];
  while (stored.length < REQUESTS) {
    const { text } = await get(url, `/book/${1 + random.below(books)}`);
    stored.push((JSON.parse(text) as { data: StoredBook }).data);
  }
  const each = (queryOf: (book: StoredBook) => Query) => stored.map((book) => listPath(queryOf(book)));
  const common = () => VOCABULARY[random.below(5)] ?? '';
  const frequent = () => VOCABULARY[100 + random.below(400)] ?? '';
  const rare = () => VOCABULARY.at(-1 - random.below(20_000)) ?? '';
  const offset = () => Math.floor(books * (0.2 + 0.6 * random.next()));
  const count = true;
  return {
    'GET one': stored.map(({ id }) => `/book/${id}`),
    'q, a common word': each(() => ({ q: common() })),
    'q, a common word, by title': each(() => ({ q: common(), sort: 'title' })),
    'q, a rare word': each(() => ({ q: rare() })),
    'q, two words': each(() => ({ q: `${common()} ${frequent()}` })),
    'q, title and author': each(({ title, author }) => ({ q: `${longestWord(title)} ${surnameOf(author)}` })),
    'part of a word of a title': each(({ title }) => ({ title: longestWord(title).slice(1, -1) })),
    'title, two words': each(({ title }) => ({ title: title.split(' ').slice(0, 2).join(' ') })),
    'author, a surname': each(({ author }) => ({ author: surnameOf(author) })),
    'three years': each(({ year }) => yearsAround(year)),
    'three years, by title': each(({ year }) => ({ ...yearsAround(year), sort: 'title' })),
    'a page by title': each(({ title }) => ({ sort: 'title', from: title })),
    'a page by author, descending': each(({ author }) => ({ sort: '-author', from: author })),
    'a page by year, descending': each(({ year }) => ({ sort: '-year', from: year })),
    'offset in the middle, by id': each(() => ({ offset: offset() })),
    'offset in the middle, by title': each(() => ({ sort: 'title', offset: offset() })),
    'offset in the middle, by author': each(() => ({ sort: 'author', offset: offset() })),
    'offset in the middle, by year': each(() => ({ sort: 'year', offset: offset() })),
    twins: each(() => ({ twins: true })),
    'count of all': each(() => ({ sort: 'title', count })),
    'count of a rare word': each(() => ({ q: rare(), count })),
    'count of a frequent word': each(() => ({ q: frequent(), count })),
    'count of a common word': each(() => ({ q: common(), count })),
    'count of two words': each(() => ({ q: `${common()} ${frequent()}`, count })),
    'count of three years': each(({ year }) => ({ ...yearsAround(year), count })),
  };
}

type Query = Readonly<Record<string, string | number | boolean>>;

function listPath(query: Query): string {
  const parameters = Object.entries({ limit: 50, ...query }).map(([name, value]) => [name, `${value}`]);
  return `/books?${new URLSearchParams(parameters).toString()}`;
}

function yearsAround(year: number): Query {
  return { year_from: year - 1, year_to: year + 1 };
}

function longestWord(text: string): string {
  return text.split(/[ ,]+/).reduce((longest, word) => (word.length > longest.length ? word : longest));
}

function surnameOf(author: string): string {
  return author.split(' ').at(-1) ?? '';
}

interface StoredBook {
  readonly id: number;
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

/** Sends requests of one kind, one after the other, for a limited time. @returns the milliseconds of each */
async function timeRequests(url: string, paths: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  const startedAt = performance.now();
  for (const path of paths) {
    const sentAt = performance.now();
    const { status, detail } = await get(url, path);
    times.push(status === 200 ? performance.now() - sentAt : Infinity);
    if (status !== 200) console.error(`${path}: ${status} ${detail}`);
    if (secondsSince(startedAt) > SECONDS_MAX) break;
  }
  return times;
}

/** Reads the whole list once. */
async function measureList({ server: { url, pid } }: Service): Promise<[label: string, value: string][]> {
  await waitUntilIdle(pid);
  const idleBytes = readMemoryBytes(pid);
  resetPeakMemory(pid);
  const startedAt = performance.now();
  const response = await send(url, '/books', false);
  const firstByteMs = performance.now() - startedAt;
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  return [
    ['the whole list, first byte, ms', decimal(firstByteMs)],
    ['the whole list, s', decimal(secondsSince(startedAt), 1)],
    ['the whole list, MB', decimal(bytes / 1e6)],
    ['memory of the service, MB', decimal(idleBytes / 1e6)],
    ['the whole list, further memory, MB', decimal((readPeakMemoryBytes(pid) - idleBytes) / 1e6)],
  ];
}

async function get(url: string, path: string): Promise<{ status: number; detail: string; text: string }> {
  const response = await send(url, path, agent);
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece as string;
  return { status: response.statusCode ?? 0, detail: String(response.headers['error-detail']), text };
}

async function send(url: string, path: string, connections: Agent | false): Promise<IncomingMessage> {
  const options = { agent: connections, headers: { authorization: TOKEN } };
  const [response] = await once(request(new URL(path, url), options).end(), 'response');
  return response as IncomingMessage;
}

/** Creates a database unless there is one of this name. @returns its URL */
async function useDatabase(address: string, name: string): Promise<string> {
  const client = new Client(address);
  await client.connect();
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
  if (rowCount === 0) await client.query(`create database ${name}`);
  await client.end();
  return Object.assign(new URL(address), { pathname: name }).href;
}

/** The bytes of the table of books, and of that of the search index, with their indexes. On SQLite, the index is a file of its own. */
async function sizeOf({ databaseUrl, program }: Service, name: 'books' | 'book_search'): Promise<number> {
  if (databaseUrl !== undefined) {
    const client = new Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query<{ bytes: string }>('select pg_total_relation_size($1) as bytes', [
      name,
    ]);
    await client.end();
    return Number(rows[0]?.bytes);
  }
  const file = join(program.folder, name === 'books' ? 'books.db' : 'books.db-search');
  using database = new DatabaseSync(file, { readOnly: true });
  const ofTable = name === 'books' ? `where name = 'books'` : '';
  return Number(database.prepare(`select sum(pgsize) as bytes from dbstat ${ofTable}`).get()?.bytes);
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}
