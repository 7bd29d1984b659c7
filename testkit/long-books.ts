import { TEXT_LENGTH_MAX } from '../src/book/contract.ts';
import type { Address, Engine } from './engines.ts';
import { openStoreAt } from './stores.ts';

const TITLE = 'x'.repeat(TEXT_LENGTH_MAX.title);

/** An array of books with the longest titles, as the body of POST /books, of almost so many MiB. */
export function longBooks(mebibytes: number): string {
  const count = Math.floor((mebibytes * 1_024 * 1_024) / (TITLE.length + 16));
  return JSON.stringify(Array.from({ length: count }, () => ({ title: TITLE, author: '', year: 0 })));
}

/** Creates a database of books with the longest titles, whose list has about so many MiB. */
export async function createLongStore(engine: Engine | undefined, mebibytes: number): Promise<Address> {
  if (!engine) throw new Error('no such engine');
  const address = await engine.createAddress();
  await using store = await openStoreAt(address.dbUrl);
  const body = Buffer.from(longBooks(1));
  for (let count = 0; count < mebibytes; count++) await store.createMany([body]);
  return address;
}
