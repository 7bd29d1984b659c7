import { openStore } from '../../src/store/sqlite/book-store.ts';

// A process of its own, for which modes of files count also where root runs it: it opens the store, and sends how that ended.
const NOBODY = 65_534;
const [, , path = ''] = process.argv;
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
process.send?.(await ending());
process.disconnect?.();

async function ending(): Promise<string> {
  try {
    await using _ = await openStore(path);
    return 'opened';
  } catch (error) {
    return String(error);
  }
}
