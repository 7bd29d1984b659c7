import { setTimeout as sleep } from 'node:timers/promises';
import { YEAR_MAX } from '../../src/book/book.ts';
import { openStoreAt } from '../../testkit/stores.ts';

// A separate process that searches until it is killed, with a user id if it has the right to set it.
const [, , dbUrl = '', userId] = process.argv;
if (userId !== undefined && process.getuid?.() === 0) {
  process.setgid?.(Number(userId));
  process.setuid?.(Number(userId));
}
await using store = await openStoreAt(dbUrl);
for (;;) {
  await store.search(
    { sort: 'title', isDescending: false, yearFrom: -YEAR_MAX, yearTo: YEAR_MAX, q: 'iliad' },
    10,
  );
  await sleep(1);
}
