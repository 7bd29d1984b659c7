import { type ClusterOptions, type EngineName, type Figures, type Form, roundsOf } from './campaign.ts';
import type { Named } from './list.ts';
import { recordRun } from './results.ts';

/** How to run campaigns. */
export interface RunOptions {
  /** Whether the short form is run. */
  readonly isShort: boolean;
  /** By default those of the form. */
  readonly rounds: number | undefined;
  readonly seed: number;
  /** The only engine; by default each that the campaign runs on. */
  readonly engine: EngineName | undefined;
  readonly cluster: ClusterOptions | undefined;
}

/** Runs a campaign on each of its engines, and writes the results of a full run. @returns whether there was no violation */
export async function runCampaign(
  { name, campaign }: Named,
  { isShort, rounds, seed, engine, cluster }: RunOptions,
): Promise<boolean> {
  const form: Form = isShort ? campaign.short : campaign.full;
  for (const candidate of campaign.engines) {
    if (engine && candidate !== engine) continue;
    const started = performance.now();
    const report = (line: string): void => {
      const seconds = Math.round((performance.now() - started) / 1_000);
      console.log(`${String(seconds).padStart(6)} s  ${line}`);
    };
    const usual = roundsOf(campaign, form, candidate);
    const count = rounds ?? usual;
    console.log(`${name} on ${candidate}: ${count} rounds, seed ${seed}`);
    try {
      const counted = await campaign.run({ engine: candidate, rounds: count, seed, cluster, report }, form);
      const figures = {
        rounds: count,
        ...counted,
        seconds: Math.round((performance.now() - started) / 1_000),
      };
      console.log(tableOf(figures));
      if (!isShort && count >= usual) await recordRun(name, campaign, candidate, figures);
    } catch (error) {
      console.error(`${name} on ${candidate} failed (seed ${seed})`);
      // What went wrong first; clients that are stopped afterwards report the same once more.
      console.error(error instanceof SuppressedError ? error.suppressed : error);
      return false;
    }
  }
  return true;
}

function tableOf(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `  ${name.padEnd(44)} ${String(value)}`)
    .join('\n');
}
