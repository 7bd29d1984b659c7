import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../testkit/global-setup.ts';
import type { Campaign, EngineName, Figures } from './campaign.ts';

/** Runs a campaign at full length: `npm run campaign -- NAME`. */

const ENGINES: Readonly<Record<string, EngineName>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (!options) {
    console.log(helpAbout(await Promise.all(listNames().map(load))));
    return 0;
  }
  if (!listNames().includes(options.name))
    throw new UsageError(`there is no campaign ${options.name} (--help lists them)`);
  const { campaign } = await load(options.name);

  const { TMPDIR = tmpdir() } = process.env;
  await globalSetup();
  // Campaigns are about what is on the disk, and their limits of memory are not for files.
  process.env.TMPDIR = TMPDIR;
  try {
    return await runOnEngines(options, campaign);
  } finally {
    await globalTeardown();
  }
}

/** @returns the exit code: 1 when the campaign found a violation */
async function runOnEngines(
  { name, rounds, seed, engine, cluster }: Options,
  campaign: Campaign,
): Promise<number> {
  for (const [index, candidate] of campaign.engines.entries()) {
    if (engine && candidate !== engine) continue;
    const started = performance.now();
    const report = (line: string): void => {
      const seconds = Math.round((performance.now() - started) / 1_000);
      console.log(`${String(seconds).padStart(6)} s  ${line}`);
    };
    const count = rounds ?? campaign.rounds[index] ?? 1;
    console.log(`${name} on ${candidate}: ${count} rounds, seed ${seed}`);
    try {
      const figures = await campaign.run({ engine: candidate, rounds: count, seed, cluster, report });
      console.log(tableOf({ ...figures, seconds: Math.round((performance.now() - started) / 1_000) }));
    } catch (error) {
      console.error(`${name} on ${candidate} failed (seed ${seed})`);
      // What went wrong first; clients that are stopped afterwards report the same once more.
      console.error(error instanceof SuppressedError ? error.suppressed : error);
      return 1;
    }
  }
  return 0;
}

type Options = NonNullable<ReturnType<typeof readOptions>>;

/** @returns undefined for --help, or when no campaign is given */
function readOptions(args: string[]) {
  const { values, positionals } = parse(args);
  const { help, rounds, seed, engine, url, stop, start } = values;
  const [name, ...rest] = positionals;
  if (help || name === undefined) return undefined;
  if (rest.length > 0) throw new UsageError('give one campaign at a time');
  if (engine !== undefined && !(engine in ENGINES)) throw new UsageError('--engine takes sqlite or postgres');
  return {
    name,
    rounds: readCount('rounds', rounds),
    seed: readCount('seed', seed) ?? Math.floor(Math.random() * 1e9),
    engine: ENGINES[engine ?? ''],
    cluster: url === undefined ? undefined : { url, stop, start },
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const help = { type: 'boolean', short: 'h' } as const;
  const options = { rounds: text, seed: text, engine: text, url: text, stop: text, start: text, help };
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--${name} takes a whole number`);
  return Number(text);
}

/** The names of the campaigns, which are those of the folders. */
function listNames(): string[] {
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.toSorted((one, other) => one.localeCompare(other));
}

interface Named {
  readonly name: string;
  readonly campaign: Campaign;
}

async function load(name: string): Promise<Named> {
  const { campaign } = (await import(join(import.meta.dirname, name, 'campaign.ts'))) as {
    campaign: Campaign;
  };
  return { name, campaign };
}

function helpAbout(campaigns: readonly Named[]): string {
  const lines = campaigns.map(({ name, campaign: { summary, needs, engines, rounds } }) => {
    const forms = engines.map((engine, index) => `${engine} ${rounds[index] ?? 1}`).join(', ');
    const requirements = needs === undefined ? '' : `; needs ${needs}`;
    return `  ${name.padEnd(14)}${summary}\n${' '.repeat(16)}rounds: ${forms}${requirements}`;
  });
  return `Runs the service under faults, load or attacks, and checks every response and the stored books.

  npm run campaign -- NAME [--rounds N] [--engine sqlite|postgres] [--seed N] [--url URL --stop COMMAND --start COMMAND]

  --rounds   the number of rounds (default: see below)
  --engine   runs it on this engine only (default: on each that is listed)
  --seed     the seed of all random numbers, to repeat a run (default: a random one, which is printed)
  --url      the address of a cluster, for distributed, and the commands that stop and start one of its workers
  --stop
  --start
  --help     prints this text

It starts the service and PostgreSQL itself. Campaigns:

${lines.join('\n')}

Exit code: 0 without violations, 1 at the first violation, 2 on wrong usage.`;
}

function tableOf(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `  ${name.padEnd(44)} ${String(value)}`)
    .join('\n');
}

/** An invalid command line. */
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
