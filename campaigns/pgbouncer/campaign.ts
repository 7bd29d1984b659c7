import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../../bench/statistics.ts';
import { request } from '../../test/http/connection.ts';
import { createDatabase, startCluster } from '../../test/support/postgres.ts';
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

const LOAD = { seconds: 5, connections: 32, rate: Number.POSITIVE_INFINITY };

/** How often the rates are measured, in turn with and without the pooler. */
const TURNS = 5;

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
  const [behind, without] = [await createDatabase({ server }), await createDatabase({ server })];
  await using pooled = await Trial.open({ dbUrl: pooler.through(behind.url), seed: 1 });
  await using direct = await Trial.open({ dbUrl: without.url, seed: 1 });
  const subjects = Object.entries({ 'without PgBouncer': direct, 'behind PgBouncer': pooled });
  for (const [, trial] of subjects) await trial.start();

  const rates = new Map<string, number[]>();
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [name, { target }] of subjects) {
      const lines = [authorizationLine(target.secret), 'Content-Type: application/json'];
      const body = JSON.stringify({
        title: 'The Left Hand of Darkness',
        author: 'Ursula K. Le Guin',
        year: 1969,
      });
      const requests = {
        'POST /book': [request('POST /book', lines, body)],
        'GET /book/{id}': Array.from({ length: 1_000 }, (_, id) => request(`GET /book/${id + 1}`, lines)),
      };
      for (const [kind, texts] of Object.entries(requests)) {
        const { good, latenciesMs, lost } = await send({ ...LOAD, port: target.port, requests: texts });
        const statuses = Object.keys(latenciesMs).filter((status) => status !== '200' && status !== '201');
        assert.deepEqual([statuses, lost], [[], 0], `${kind} ${name}`);
        // The first turn fills the table and warms up.
        if (turn === 0) continue;
        const key = `${kind} ${name}, requests/s`;
        rates.set(key, [...(rates.get(key) ?? []), good / LOAD.seconds]);
        report(`${turn}: ${key}: ${Math.round(good / LOAD.seconds)}`);
      }
    }
  }
  await Promise.all(subjects.map(([, trial]) => trial.stop()));
  return Object.fromEntries(
    [...rates].map(([name, values]) => [name, Math.round(median(values) ?? Number.NaN)]),
  );
}
