import type { Engine } from '../testkit/engines.ts';

/**
 * A long test with faults, load or attacks against a running service, which checks the service after every round. Each is
 * `campaign` in the `campaign.ts` of a folder of its name; its short form is in `test/campaigns`.
 */
export interface Campaign {
  /** What it does, in one line. */
  readonly summary: string;
  /** What it needs besides the packages of the project, such as root or strace. */
  readonly needs?: string;
  /** The default number of rounds, for each of `engines`. */
  readonly rounds: readonly number[];
  /** The engines that it runs on, one after the other. */
  readonly engines: readonly EngineName[];
  /**
   * Runs it on one engine.
   *
   * @returns counts and measurements, by name
   * @throws Error at the first violation
   */
  run(options: CampaignOptions): Promise<Figures>;
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
