import type { Engine } from '../test/support/engines.ts';

/**
 * Something that is done to a running service many times over, with a verdict after every round. A campaign stands in
 * a folder of its name, as `campaign` in its `campaign.ts`; what of it is short enough is a test beside it.
 */
export interface Campaign {
  /** What is done, in one line. */
  readonly summary: string;
  /** What the long form needs besides the project's own packages, such as root or strace. */
  readonly needs?: string;
  /** How many rounds the long form has, unless its user says otherwise: of each engine, in the order of `engines`. */
  readonly rounds: readonly number[];
  /** The engines that it is run on, one after the other. */
  readonly engines: readonly EngineName[];
  /**
   * Runs it on one engine.
   *
   * @returns what was done and seen, by name
   * @throws Error at the first thing that must not be
   */
  run(options: CampaignOptions): Promise<Figures>;
}

export type EngineName = Engine['name'];

/** How a campaign is to be run. */
export interface CampaignOptions {
  readonly engine: EngineName;
  readonly rounds: number;
  /** What chance is made of: the same seed makes the same requests, as far as processes allow. */
  readonly seed: number;
  /** Tells how far it is. */
  readonly report: (line: string) => void;
}

/** What a campaign did and saw. */
export type Figures = Readonly<Record<string, number | string>>;
