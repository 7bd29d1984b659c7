import type { Generator } from './load.ts';
import { nodeGenerator } from './node.ts';
import { findWrk } from './wrk.ts';

/** wrk if it is installed, otherwise a Node process. */
export function chooseGenerator(): Generator {
  return findWrk() ?? nodeGenerator;
}
