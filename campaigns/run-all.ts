import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Named } from './list.ts';
import { findMissing, MOUNTS } from './needs.ts';
import type { RunOptions } from './run-campaign.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

/** The time limit of the short form of a campaign. */
const SHORT_SECONDS_MAX = 120;

/** The lines of output that are printed of a campaign that has failed. */
const LINES_MAX = 40;

type Result = 'passed' | 'failed' | 'skipped';

/**
 * Runs campaigns one after another, each in a process of its own, and prints a line for each and a summary.
 *
 * @returns whether none has failed
 */
export async function runAll(campaigns: readonly Named[], options: RunOptions): Promise<boolean> {
  const names: Record<Result, string[]> = { passed: [], failed: [], skipped: [] };
  const started = performance.now();
  for (const each of campaigns) {
    const missing = await findMissing(each.campaign.needs, options.cluster?.url);
    const { result, line } =
      missing.length > 0
        ? { result: 'skipped' as const, line: `needs ${missing.join(', ')}` }
        : await runOne(each, options);
    names[result].push(each.name);
    console.log(`${each.name.padEnd(14)} ${result.padEnd(8)} ${line}`);
  }
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  const counts = (['passed', 'failed', 'skipped'] as const).map((result) => {
    const of = names[result];
    return `${of.length} ${result}${result === 'passed' || of.length === 0 ? '' : ` (${of.join(', ')})`}`;
  });
  console.log(`${campaigns.length} campaigns in ${minutes} minutes: ${counts.join(', ')}`);
  return names.failed.length === 0;
}

/** Runs a campaign in a process group, which ends with it. */
async function runOne(
  { name, campaign }: Named,
  { isShort, seed, cluster }: RunOptions,
): Promise<{ result: Result; line: string }> {
  const started = performance.now();
  const flags = [MAIN, name, '--seed', `${seed}`, ...(isShort ? ['--short'] : [])];
  for (const [option, value] of Object.entries(cluster ?? {}))
    if (value !== undefined) flags.push(`--${option}`, value);
  // What a campaign mounts is seen by no other process, and is gone when it ends.
  const command = campaign.needs?.includes(MOUNTS)
    ? ['unshare', '--mount', '--propagation', 'private', process.execPath, ...flags]
    : [process.execPath, ...flags];
  const [program = '', ...rest] = command;
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = (): void => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // All have ended.
    }
  };
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-100_000);
    });
  let isLate = false;
  const limit = setTimeout(
    () => {
      isLate = true;
      end();
    },
    isShort ? SHORT_SECONDS_MAX * 1_000 : 2 ** 31 - 1,
  );
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  process.off('exit', end);
  end();
  const seconds = `${Math.round((performance.now() - started) / 1_000)} s`.padStart(6);
  if (code === 0) return { result: 'passed', line: seconds };
  const reason = isLate ? `it did not end in ${SHORT_SECONDS_MAX} s` : `exit code ${code}`;
  const tail = output.trimEnd().split('\n').slice(-LINES_MAX);
  return { result: 'failed', line: [`${seconds}  ${reason}`, ...tail].join('\n    ') };
}
