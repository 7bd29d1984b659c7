import type { StoreObserver } from '../../src/store/observer.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';

/** Records the number of calls of each batch of a kind. */
export function observing(kind: string, sizes: number[]): StoreObserver {
  return { ...NO_OBSERVER, operation: (name) => (calls) => void (name === kind && sizes.push(calls)) };
}
