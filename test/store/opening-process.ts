import { once } from 'node:events';
import { openStoreAt } from '../../testkit/stores.ts';

// A separate process that waits for a message, opens the store, creates one book and exits.
const [, , dbUrl = '', title = ''] = process.argv;
process.send?.('ready');
await once(process, 'message');
await using store = await openStoreAt(dbUrl);
await store.create({ title, author: '', year: 0 });
process.disconnect?.();
