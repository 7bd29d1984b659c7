import { openStore } from '../../src/store/sqlite/book-store.ts';
import { NO_OBSERVER } from '../../testkit/no-observer.ts';

// A separate process that gives up root privileges, opens the store and sends the outcome.
const NOBODY_ID = 65_534;
const [, , path = ''] = process.argv;
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY_ID);
  process.setuid?.(NOBODY_ID);
}
process.send?.(await outcome());
process.disconnect?.();

async function outcome(): Promise<string> {
  try {
    await using _ = await openStore(path, NO_OBSERVER);
    return 'opened';
  } catch (error) {
    return String(error);
  }
}
