import { setTimeout as sleep } from 'node:timers/promises';
import { openStoreAt } from '../../testkit/stores.ts';

// A separate process that creates, updates and deletes books of one author until it is disconnected.
const [, , dbUrl = '', author = ''] = process.argv;
await using store = await openStoreAt(dbUrl);
process.send?.('ready');
const ids: number[] = [];
while (process.connected) {
  ids.push((await store.create({ title: 'new', author, year: 0 })).id);
  await store.update(ids[0] ?? 0, { title: 'changed' });
  if (ids.length > 10) await store.delete(ids.shift() ?? 0);
  await sleep(1);
}
