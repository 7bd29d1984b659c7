import type { Engine } from '../testkit/engines.ts';
import type { Need } from './needs.ts';

/**
 * A long test with faults, load or attacks against a running service, which checks the service after every round. Each is
 * `campaign` in the `campaign.ts` of a folder of its name.
 */
export interface Campaign<Extent extends Form = Form> {
  /** What it plants or breaks, in one line. */
  readonly summary: string;
  /** The names of the figures of a full run that docs/testing.md has; the run prints all. */
  readonly recorded: readonly string[];
  /** What it needs besides the packages of the project. */
  readonly needs?: readonly Need[];
  /** The engines that it runs on, one after the other. */
  readonly engines: readonly EngineName[];
  /** The full run: about five minutes an engine, at most, on two processors. */
  readonly full: Extent;
  /** The short form, which `test/campaigns` runs, too: a minute on all engines together, and no limits that a busy machine misses. */
  readonly short: Extent;
  /**
   * Runs it on one engine.
   *
   * @param extent the full run or the short form
   * @returns counts and measurements, by name
   * @throws Error at the first violation
   */
  run(options: CampaignOptions, extent: Extent): Promise<Figures>;
}

/** The extent of a run. */
export interface Form {
  /** The default number of rounds, for each engine. */
  readonly rounds: readonly number[];
}

export type EngineName = Engine['name'];

/** A cluster that the campaigns do not start themselves. */
export interface ClusterOptions {
  readonly url: string;
  /** The shell commands that stop and start one of its workers. */
  readonly stop?: string | undefined;
  readonly start?: string | undefined;
}

/** How to run a campaign. */
export interface CampaignOptions {
  readonly engine: EngineName;
  readonly rounds: number;
  /** Seeds all random numbers: the same seed makes the same requests, but for the timing of processes. */
  readonly seed: number;
  /** The cluster of the operator, for campaigns that do not start one. */
  readonly cluster?: ClusterOptions | undefined;
  /** Reports progress. */
  readonly report: (line: string) => void;
}

/** The counts and measurements of a campaign, by name. */
export type Figures = Readonly<Record<string, number | string>>;

/** The rounds of a form on an engine. */
export function roundsOf({ engines }: Campaign, { rounds }: Form, engine: EngineName): number {
  return rounds[engines.indexOf(engine)] ?? 1;
}

/** Runs the short form without reports. @param engine by default the first */
export function runShort(
  campaign: Campaign,
  engine: EngineName = campaign.engines[0] ?? 'SQLite',
  seed: number = Date.now() % 1_000_000,
): Promise<Figures> {
  const rounds = roundsOf(campaign, campaign.short, engine);
  return campaign.run({ engine, rounds, seed, report: () => {} }, campaign.short);
}
