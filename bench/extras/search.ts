import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from '../../testkit/cluster.ts';
import { decimal, table } from '../report/markdown.ts';
import { TOKEN } from '../services/credentials.ts';
import { type Engine, startService } from '../services/service.ts';
import { percentile } from '../statistics.ts';
import { createDatabase } from '../tables/postgres.ts';

/**
 * Measures the latency of searches, and of reads during searches, and prints a table:
 * `node bench/extras/search.ts [books] [engine]`. A million books take some minutes, most of them for the index.
 */

const [, , books = '1000000', only] = process.argv;
const SEARCHERS = 8;
const READERS = 8;
const SECONDS = 3;
const SEARCHES = {
  'first page by title': 'sort=title&limit=50',
  'later pages by title': 'sort=title&limit=50&after=',
  'first page by year, descending': 'sort=-year&limit=50',
  'later pages by year, descending': 'sort=-year&limit=50&after=',
  'q with a common word': 'q=river&limit=50',
  'q with a common word, by title': 'q=river&sort=title&limit=50',
  'q with a common word, count=true': 'q=river&limit=50&count=true',
  'q with two words, count=true': 'q=lisbon+river&limit=50&count=true',
  'q without matches, count=true': 'q=xylophone&limit=50&count=true',
  'part of a title, by author, descending': 'title=ver+of+lis&sort=-author&limit=50',
};

for (const name of ['sqlite', 'postgres'] as const) {
  if (only === undefined || only === name) await measure(name);
}

async function measure(engine: Engine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-search-'));
  await using cluster = engine === 'postgres' ? await startCluster() : undefined;
  {
    await using service = await startService(engine, {
      folder,
      createDatabase: () => createDatabase(cluster?.url ?? '', 'search'),
    });
    await service.table?.fill(Number(books));
    const { url } = service.server;
    const startedAt = performance.now();
    // With an index, a search without matches is fast; without one, it scans all books.
    for (let ms = Infinity; ms > 100; await sleep(1_000))
      [ms = Infinity] = await timeRequests(url, ['q=zzzzz&limit=1'], 1, 0);
    const indexSeconds = (performance.now() - startedAt) / 1_000;
    const reads = await timeRequests(url, [''], READERS, SECONDS, '/book/1');
    const rows = [];
    for (const [label, query] of Object.entries(SEARCHES)) {
      const queries = query.endsWith('after=')
        ? await laterPages(url, query.slice(0, -'&after='.length))
        : [query];
      const searches = await timeRequests(url, queries, SEARCHERS, SECONDS);
      const [, readsDuringSearches] = await Promise.all([
        timeRequests(url, queries, SEARCHERS, SECONDS),
        timeRequests(url, [''], READERS, SECONDS, '/book/1'),
      ]);
      const ofSearches = [50, 99, 100].map((percent) => decimal(percentile(searches, percent), 1));
      rows.push([label, ...ofSearches, decimal(percentile(readsDuringSearches, 99), 1)]);
    }
    console.log(`${engine}, ${books} books; the index was complete after ${decimal(indexSeconds)} s.`);
    console.log(
      `GET one at ${READERS} connections without searches: p99 ${decimal(percentile(reads, 99), 1)} ms.\n`,
    );
    console.log(table(['ms', '>median', '>p99', '>max', '>GET one meanwhile, p99'], rows), '\n');
  }
  await rm(folder, { recursive: true });
}

/** The queries of pages far from the first one. */
async function laterPages(url: string, query: string): Promise<string[]> {
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

/** Sends the queries in turn, over several connections. @returns the milliseconds of each request */
async function timeRequests(
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
    const pending = request(new URL(path, url), { agent, headers: { authorization: TOKEN } }, (response) => {
      const { link = '' } = response.headers;
      text(response).then(() => resolve({ link: String(link) }), reject);
    });
    pending.on('error', reject).end();
  });
}
