import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../test/support/cluster.ts';
import { decimal, table } from '../markdown.ts';
import { TOKEN } from '../services/credentials.ts';
import { type ServiceName, startService } from '../services/service.ts';
import { createDatabase } from '../tables/postgres.ts';

/**
 * How quick searches are, and what others notice of them: `node bench/extras/search.ts [books] [engine]`. It takes some
 * minutes for a million books, most of them for the index, and prints a table.
 */

const [, , books = '1000000', engine] = process.argv;
const SEARCHERS = 8;
const READERS = 8;
const SECONDS = 3;
const SEARCHES = {
  'a page by title': 'sort=title&limit=50',
  'the page behind, by title': 'sort=title&limit=50&after=',
  'a page by year, descending': 'sort=-year&limit=50',
  'the page behind, by year, descending': 'sort=-year&limit=50&after=',
  'q, a common word': 'q=river&limit=50',
  'q, a common word, by title': 'q=river&sort=title&limit=50',
  'q, a common word, counted': 'q=river&limit=50&count=true',
  'q, two words': 'q=lisbon+river&limit=50&count=true',
  'q, no match': 'q=xylophone&limit=50&count=true',
  'part of a title, descending by author': 'title=ver+of+lis&sort=-author&limit=50',
};

for (const name of ['sqlite', 'postgres'] as const) {
  if (engine === undefined || engine === name) await measure(name);
}

async function measure(name: ServiceName): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-search-'));
  await using cluster = name === 'postgres' ? await startCluster() : undefined;
  {
    await using service = await startService(name, {
      folder,
      createDatabase: () => createDatabase(cluster?.url ?? '', 'search'),
    });
    await service.table?.fill(Number(books));
    const { url } = service.server;
    const startedAt = performance.now();
    // A word that is nowhere is told at once when there is an index, and takes a while when there is none.
    for (let ms = Infinity; ms > 100; await sleep(1_000))
      [ms = Infinity] = await play(url, ['q=zzzzz&limit=1'], 1, 0);
    const indexSeconds = (performance.now() - startedAt) / 1_000;
    const usual = quantiles(await play(url, [''], READERS, SECONDS, '/book/1'));
    const rows = [];
    for (const [what, query] of Object.entries(SEARCHES)) {
      const queries = query.endsWith('after=')
        ? await pagesBehind(url, query.slice(0, -'&after='.length))
        : [query];
      const searches = quantiles(await play(url, queries, SEARCHERS, SECONDS));
      const [, others] = await Promise.all([
        play(url, queries, SEARCHERS, SECONDS),
        play(url, [''], READERS, SECONDS, '/book/1'),
      ]);
      const beside = quantiles(others);
      rows.push([
        what,
        ...[searches.median, searches.p99, searches.worst, beside.p99].map((ms) => decimal(ms, 1)),
      ]);
    }
    console.log(`${name}, ${books} books; the index was there after ${decimal(indexSeconds)} s.`);
    console.log(`GET one with ${READERS} connections alone: p99 ${decimal(usual.p99, 1)} ms.\n`);
    console.log(table(['ms', '>median', '>p99', '>worst', '>GET one beside, p99'], rows), '\n');
  }
  await rm(folder, { recursive: true });
}

/** The queries of pages far from the first one. */
async function pagesBehind(url: string, query: string): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const queries: string[] = [];
  let next = `/books?${query.replace('limit=50', 'limit=1000')}`;
  for (let page = 0; page < 200 && next !== ''; page++) {
    const { link } = await get(url, next, agent);
    next = /<([^>]+)>/.exec(link)?.[1] ?? '';
    if (page % 10 === 9) queries.push(next.replace('/books?', '').replace('limit=1000', 'limit=50'));
  }
  agent.destroy();
  return queries;
}

/** Asks in turn, on so many connections at once. @returns the milliseconds of each answer */
async function play(
  url: string,
  queries: readonly string[],
  connections: number,
  seconds: number,
  path = '/books',
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  const client = async () => {
    do {
      const startedAt = performance.now();
      await get(url, `${path}?${queries[times.length % queries.length]}`, agent);
      times.push(performance.now() - startedAt);
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return times;
}

async function get(url: string, path: string, agent: Agent): Promise<{ link: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(new URL(path, url), { agent, headers: { authorization: TOKEN } }, (response) => {
      const { link = '' } = response.headers;
      text(response).then(() => resolve({ link: String(link) }), reject);
    });
    asking.on('error', reject).end();
  });
}

function quantiles(times: readonly number[]): { median: number; p99: number; worst: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99), worst: at(1) };
}
