import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, startCluster } from '../../testkit/postgres.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { raise } from '../figures.ts';
import { LINUX, programs } from '../needs.ts';
import { Trial } from '../trial.ts';
import { PgBouncer } from './pgbouncer.ts';

export const campaign: Campaign<PoolerForm> = {
  summary:
    'PgBouncer in transaction mode between the service and PostgreSQL: the conformance kit, the tests of the additions, and restarts of PgBouncer under 16 clients',
  recorded: ['PgBouncer', 'tests passed', 'acknowledged'],
  needs: [LINUX, ...programs(['pgbouncer', 'setpriv'])],
  engines: ['PostgreSQL'],
  full: {
    rounds: [10],
    suites: ['conformance/contract', 'http/conditional', 'http/idempotency', 'http/many', 'http/search'],
  },
  short: { rounds: [2], suites: ['conformance/contract'] },
  run: testPooler,
};

interface PoolerForm extends Form {
  /** The conformance kit, and the tests of the additions. */
  readonly suites: readonly string[];
}

const ROOT = join(import.meta.dirname, '..', '..');

/** The test that makes a user of its own, whom the pooler does not know. */
const UNKNOWN_USER = 'A PostgreSQL role that';

/** The minimum of acknowledged writes before and after a restart. */
const WRITES = 200;

async function testPooler(
  { rounds, seed, report }: CampaignOptions,
  { suites }: PoolerForm,
): Promise<Figures> {
  await using cluster = await startCluster();
  await using pooler = await PgBouncer.start(cluster.url);
  report(`PgBouncer ${pooler.version}`);
  const passed = await runSuites(suites, pooler.through(cluster.url));
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
  return { PgBouncer: pooler.version, 'tests passed': passed, ...trial.writes, ...figures };
}

/** Runs the tests on PostgreSQL behind the pooler. @returns how many passed; @throws Error when one fails */
async function runSuites(suites: readonly string[], server: string): Promise<number> {
  const files = suites.map((suite) => join('test', `${suite}.test.ts`));
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
