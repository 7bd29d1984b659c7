import type { StoreObserver } from '../src/store/observer.ts';

/** For stores without metrics and logs. */
export const NO_OBSERVER: StoreObserver = { operation: () => () => {}, pool: () => {}, part: () => () => {} };
