import { once } from 'node:events';
import { openStoreAt } from '../support/stores.ts';

// A process of its own: it waits for the word, opens the store, creates one book and ends.
const [, , dbUrl = '', title = ''] = process.argv;
process.send?.('ready');
await once(process, 'message');
await using store = await openStoreAt(dbUrl);
await store.create({ title, author: '', year: 0 });
process.disconnect?.();
