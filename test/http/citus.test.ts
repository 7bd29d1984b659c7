import { emulateCitus } from '../../testkit/engines.ts';

// The searches run once more with the statements for Citus, like the suites in `test/store/citus.test.ts`.
emulateCitus();
await import('./search.test.ts');
await import('./positions.test.ts');
