import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { globalTeardown, shareCluster } from '../testkit/global-setup.ts';
import type { EngineName } from './campaign.ts';
import { listNames, load, loadAll, type Named } from './list.ts';
import { findMissing } from './needs.ts';
import { runAll } from './run-all.ts';
import { type RunOptions, runCampaign } from './run-campaign.ts';

/** Runs a campaign, or all: `npm run campaign -- NAME`, `npm run campaign -- --all --short`. */

const ENGINES: Readonly<Record<string, EngineName>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  const { name, isAll, ...options } = readOptions(args);
  if (isAll) return await withCluster(async () => await runAll(await loadAll(), options));
  if (name === undefined) {
    console.log(helpAbout(await loadAll()));
    return 0;
  }
  if (!listNames().includes(name)) throw new UsageError(`there is no campaign ${name} (--help lists them)`);
  const named = await load(name);
  const missing = await findMissing(named.campaign.needs, options.cluster?.url);
  if (missing.length > 0) throw new UsageError(`${name} needs ${missing.join(', ')}`);
  return await withCluster(async () => await runCampaign(named, options));
}

/** Runs campaigns with a PostgreSQL server, which is that of the process that runs all of them. */
async function withCluster(run: () => Promise<boolean>): Promise<number> {
  if (process.env[IS_SHARED] !== undefined) return (await run()) ? 0 : 1;
  const { TMPDIR = tmpdir() } = process.env;
  await shareCluster();
  // Campaigns are about what is on the disk, and their limits of memory are not for files.
  process.env.TMPDIR = TMPDIR;
  process.env[IS_SHARED] = 'yes';
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  try {
    return (await run()) ? 0 : 1;
  } finally {
    await globalTeardown();
  }
}

/** The variable by which a process knows that another has started the server. */
const IS_SHARED = 'CAMPAIGN_HAS_CLUSTER';

interface Options extends RunOptions {
  /** Undefined for --help, or when no campaign is given. */
  readonly name: string | undefined;
  readonly isAll: boolean;
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parse(args);
  const { help, all: isAll = false, short: isShort = false, rounds, seed, engine, url, stop, start } = values;
  const [name, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError('give one campaign at a time');
  if (isAll && (name ?? rounds ?? engine) !== undefined)
    throw new UsageError('--all runs each campaign with its own rounds on its own engines');
  if (engine !== undefined && !(engine in ENGINES)) throw new UsageError('--engine takes sqlite or postgres');
  return {
    name: help ? undefined : name,
    isAll: isAll && !help,
    isShort,
    rounds: readCount('rounds', rounds),
    seed: readCount('seed', seed) ?? Math.floor(Math.random() * 1e9),
    engine: ENGINES[engine ?? ''],
    cluster: url === undefined ? undefined : { url, stop, start },
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const help = { type: 'boolean', short: 'h' } as const;
  const values = { rounds: text, seed: text, engine: text, url: text, stop: text, start: text };
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...values, all: flag, short: flag, help },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--${name} takes a whole number`);
  return Number(text);
}

function helpAbout(campaigns: readonly Named[]): string {
  const lines = campaigns.map(({ name, campaign: { summary, needs = [], engines, full } }) => {
    const forms = engines.map((engine, index) => `${engine} ${full.rounds[index] ?? 1}`).join(', ');
    const requirements = needs.length === 0 ? '' : `; needs ${needs.map((need) => need.name).join(', ')}`;
    return `  ${name.padEnd(14)}${summary}\n${' '.repeat(16)}rounds: ${forms}${requirements}`;
  });
  return `Runs the service under faults, load or attacks, and checks every response and the stored books.

  npm run campaign -- NAME [--short] [--rounds N] [--engine sqlite|postgres] [--seed N]
  npm run campaign -- --all [--short]

  --all      runs all campaigns, one after another, and skips those that need something that is missing here
  --short    runs the short form, of two minutes at most. A full run takes one to ten minutes an engine, a few up to half
             an hour, and writes its figures into docs/testing.md
  --rounds   the number of rounds (default: see below)
  --engine   runs it on this engine only (default: on each that is listed)
  --seed     the seed of all random numbers, to repeat a run (default: a random one, which is printed)
  --url      the address of a cluster, for distributed, and the commands that stop and start one of its workers
  --stop
  --start
  --help     prints this text

It starts the service and PostgreSQL itself. Campaigns, with the rounds of a full run:

${lines.join('\n')}

Exit code: 0 without violations, 1 with one, 2 on wrong usage, or if a campaign needs something that is missing.`;
}

/** An invalid command line, or a machine on which the campaign cannot run. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`campaign: ${error.message}`);
  process.exitCode = 2;
}
