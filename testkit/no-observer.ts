import type { StoreObserver } from '../src/store/observer.ts';
import type { Verify } from '../src/store/postgres/rights.ts';

/** For stores without metrics and logs. */
export const NO_OBSERVER: StoreObserver = { operation: () => () => {}, pool: () => {}, part: () => () => {} };

/** For stores without wings. */
export const NO_VERIFICATION: Verify = async () => {};
