import { NodeGenerator } from './node.ts';
import { findWrk } from './wrk.ts';

/** Plays requests over connections that are kept alive; each sends its next request when it has its answer. */
export interface Generator {
  /** What it is, for the report. */
  readonly title: string;
  play(load: Load): Promise<Played>;
}

/** What is to be played. */
export interface Load {
  readonly url: string;
  /** A file with a request a line: `METHOD PATH [BODY]`. */
  readonly requestsFile: string;
  readonly token: string;
  readonly connections: number;
  /** Whole seconds. */
  readonly seconds: number;
}

/** What came of it. */
export interface Played {
  /** The answers that arrived in time. */
  readonly answers: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers with another status than 2xx, and connections that failed. */
  readonly failures: number;
  /** The processor time that the generator itself used, of the one thread it has. */
  readonly cpuSeconds: number;
}

/** wrk where it is installed, otherwise our own. */
export function chooseGenerator(): Generator {
  return findWrk() ?? new NodeGenerator();
}
