import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../../bench/statistics.ts';
import { request } from '../../testkit/connection.ts';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import { authorizationLine } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { raise } from '../figures.ts';
import { send } from '../overload/generator.ts';
import { Trial } from '../trial.ts';
import { PgBouncer } from './pgbouncer.ts';

export const campaign: Campaign = {
  summary:
    'PgBouncer in transaction mode between the service and PostgreSQL: the conformance kit, the tests of the additions, restarts of PgBouncer under 16 clients, and request rates with and without it',
  needs: 'pgbouncer and Linux',
  rounds: [10],
  engines: ['PostgreSQL'],
  run: testPooler,
};

const ROOT = join(import.meta.dirname, '..', '..');

/** The conformance kit, and the tests of the additions. */
const SUITES = ['conformance/contract', 'http/conditional', 'http/idempotency', 'http/many', 'http/search'];

/** The test that makes a user of its own, whom the pooler does not know. */
const UNKNOWN_USER = 'A PostgreSQL role that';

/** The minimum of acknowledged writes before and after a restart. */
const WRITES = 200;

const LOAD = { seconds: 2, connections: 32, rate: Number.POSITIVE_INFINITY };

/** How often the rates are measured, in turn with and without the pooler. */
const TURNS = 15;

/** The number of books that are read. */
const BOOKS = 1_000;
const FILL = `insert into books (title, author, year) select 'Ubik', 'Philip K. Dick', 1969 from generate_series(1, ${BOOKS})`;

/** The book that is created. */
const BOOK = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };

async function testPooler({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using cluster = await startCluster();
  await using pooler = await PgBouncer.start(cluster.url);
  report(`PgBouncer ${pooler.version}`);
  const passed = await runSuites(pooler.through(cluster.url));
  report(`${passed} tests passed`);

  const { url } = await createDatabase({ server: cluster.url });
  await using trial = await Trial.open({ dbUrl: pooler.through(url), seed });
  await trial.start();
  const figures: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    const signal = round % 2 === 1 ? 'SIGTERM' : 'SIGKILL';
    const writingMs = await restart(trial, pooler, signal);
    report(`${round}: ${signal}: first write ${writingMs} ms after the restart`);
    raise(figures, 'longest from restart to first write, ms', writingMs);
  }
  await trial.stop();
  const rates = await compareRates(cluster.url, pooler, report);
  return { 'tests passed': passed, restarts: rounds, ...trial.writes, ...figures, ...rates };
}

/** Runs the tests on PostgreSQL behind the pooler. @returns how many passed; @throws Error when one fails */
async function runSuites(server: string): Promise<number> {
  const files = SUITES.map((suite) => join('test', `${suite}.test.ts`));
  const patterns = ['--test-name-pattern=PostgreSQL', `--test-skip-pattern=${UNKNOWN_USER}`];
  const flags = ['--test', '--test-reporter=tap', ...patterns, ...files];
  const options = { cwd: ROOT, env: { ...process.env, TEST_POSTGRES_URL: server }, maxBuffer: 1e9 };
  const { stdout } = await promisify(execFile)(process.execPath, flags, options).catch((error: unknown) => {
    const { stdout: output = '' } = error as { stdout?: string };
    throw new Error(
      output
        .split('\n')
        .filter((line) => /^ *not ok|error:/.test(line))
        .join('\n'),
    );
  });
  return Number(/^# pass (\d+)$/m.exec(stdout)?.[1]);
}

/** Restarts the pooler under load, and asserts that no write is lost. @returns the time to the first write */
async function restart(trial: Trial, pooler: PgBouncer, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  let backMs = 0;
  const journal = await trial.underLoad(async (clients) => {
    await clients.progress(WRITES);
    await pooler.stop(signal);
    await pooler.start();
    backMs = performance.now();
    await clients.progress(WRITES);
  });
  assert.deepEqual(await trial.judge(journal), []);
  return Math.round(journal.firstWriteMs(backMs));
}

/** Measures a service behind the pooler and one without, in turn. */
async function compareRates(
  server: string,
  pooler: PgBouncer,
  report: CampaignOptions['report'],
): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const subjects: Record<string, Trial> = {};
  for (const name of ['without PgBouncer', 'behind PgBouncer']) {
    const database = await createDatabase({ server });
    const dbUrl = name.startsWith('behind') ? pooler.through(database.url) : database.url;
    const trial = resources.use(await Trial.open({ dbUrl, seed: 1 }));
    await trial.start();
    await database.query(FILL);
    subjects[name] = trial;
  }
  const rates: Record<string, number[]> = {};
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [name, { target }] of Object.entries(subjects)) {
      for (const [kind, requests] of Object.entries(workloads(target.secret))) {
        const { good, latenciesMs, lost } = await send({ ...LOAD, port: target.port, requests });
        const failures = Object.keys(latenciesMs).filter((status) => status !== '200' && status !== '201');
        assert.deepEqual([failures, lost], [[], 0], `${kind} ${name}`);
        // The first turn warms up.
        const key = `${kind} ${name}, requests/s`;
        if (turn > 0) rates[key] = [...(rates[key] ?? []), good / LOAD.seconds];
      }
    }
    report(`rates: ${turn} of ${TURNS} turns`);
  }
  for (const trial of Object.values(subjects)) await trial.stop();
  const medians = Object.entries(rates).map(([name, values]) => [name, median(values)?.toFixed(0)]);
  return Object.fromEntries(medians) as Figures;
}

function workloads(secret: string): Readonly<Record<string, readonly string[]>> {
  const lines = [authorizationLine(secret), 'Content-Type: application/json'];
  const ids = Array.from({ length: BOOKS }, (_, index) => index + 1);
  return {
    'POST /book': [request('POST /book', lines, JSON.stringify(BOOK))],
    'GET /book/{id}': ids.map((id) => request(`GET /book/${id}`, lines)),
  };
}
