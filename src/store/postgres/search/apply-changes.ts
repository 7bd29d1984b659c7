import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Book } from '../../../book/book.ts';
import { foldBook } from '../../search/folding.ts';
import { textLength } from '../../store-limits.ts';
import { idsOf, SELECT } from '../sql.ts';
import * as schema from './search-schema.ts';
import { storedLower } from './text-conditions.ts';
import { indexedTrigramsOf } from './trigrams.ts';

/** The most changes, and the most books, that one transaction applies. */
const CHANGES_PER_STEP = 100;
const BOOKS_PER_STEP = 2_000;
/** The most bytes of text that a statement reads; a single book may have more. */
const BYTES_PER_STEP = 4 * 1_024 * 1_024;
/** The text that is folded in one turn of the event loop, in UTF-16 code units. */
const LENGTH_PER_TURN = 16_384;

/** The range of ids that may have changed. They are text, as they may exceed the ids of books. */
interface Change {
  readonly first: string;
  readonly last: string;
}

/** An id, and the bytes of text up to and including its book. */
interface Size {
  readonly id: string;
  readonly total: string;
}

/** Applies some changes of the books in a transaction. @returns whether these were all changes @throws VersionMismatch */
export async function applyChanges(client: PoolClient): Promise<boolean> {
  // A crash that loses the index rows of this transaction also restores its changes.
  await client.query('set local synchronous_commit = off');
  // One process at a time; the next one finds the remaining changes.
  await client.query(schema.LOCK_INDEX);
  const { isComplete, hasIndexes } = await schema.selectState(client);
  if (isComplete && hasIndexes) return true;
  const { rows: changes } = await client.query<Change>(schema.TAKE_CHANGES, [CHANGES_PER_STEP]);
  const singles = changes.filter(({ first, last }) => first === last).map(({ first }) => first);
  const ranges = changes.filter(({ first, last }) => first !== last);
  const remaining = [...(await indexSingles(client, singles)), ...(await indexRanges(client, ranges))];
  if (remaining.length > 0) {
    const [firsts, lasts] = [remaining.map(({ first }) => first), remaining.map(({ last }) => last)];
    await client.query(schema.INSERT_CHANGES, [firsts, lasts]);
  }
  const isDone = remaining.length === 0 && changes.length < CHANGES_PER_STEP;
  if (isDone && !hasIndexes) await schema.createIndexes(client);
  return isDone;
}

/** @returns the remaining changes, when the books are long */
async function indexSingles(client: PoolClient, ids: readonly string[]): Promise<Change[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<Size>(schema.SELECT_SIZES, [ids]);
  const remaining = new Set(idsOf(rows.filter((row, index) => !isFitting(row, index))));
  const fitting = ids.filter((id) => !remaining.has(id));
  await indexBooks(client, fitting);
  return [...remaining].map((id) => ({ first: id, last: id }));
}

async function indexRanges(client: PoolClient, ranges: readonly Change[]): Promise<Change[]> {
  const remaining = [...ranges];
  for (let room = BOOKS_PER_STEP; room > 0 && remaining.length > 0; ) {
    const { first, last } = remaining.shift() as Change;
    const { rows } = await client.query<Size>(schema.SELECT_RANGE, [first, last, room]);
    const ids = idsOf(rows.filter(isFitting));
    await indexBooks(client, ids);
    room -= rows.length;
    const end = ids.at(-1);
    const isDone = end === undefined || end === last || (ids.length === rows.length && room > 0);
    if (!isDone) remaining.unshift({ first: `${BigInt(end) + 1n}`, last });
  }
  return remaining;
}

function isFitting({ total }: Size, index: number): boolean {
  return index === 0 || Number(total) <= BYTES_PER_STEP;
}

/** Replaces the index rows of books; those of deleted books are only removed. */
async function indexBooks(client: PoolClient, ids: readonly string[]): Promise<void> {
  const { rows: books } = await client.query<Book>(SELECT.text, [ids]);
  await client.query(schema.DELETE_INDEXED, [ids]);
  await client.query(schema.INSERT_INDEXED, [await fold(books)]);
}

/** Texts are folded on the main thread, so other work of the event loop runs in between. @returns JSON */
async function fold(books: readonly Book[]): Promise<string> {
  const rows: string[] = [];
  let length = 0;
  for (const { id, title, author, year } of books) {
    if (length > LENGTH_PER_TURN) {
      await endOfTurn();
      length = 0;
    }
    length += textLength({ title, author });
    const folded = foldBook({ title, author, year });
    const bytes = Buffer.byteLength(title) + Buffer.byteLength(author);
    const titleLower = storedLower(title, folded.titleKey, folded.titleLower);
    const authorLower = storedLower(author, folded.authorKey, folded.authorLower);
    const trigrams = indexedTrigramsOf(folded.words);
    rows.push(JSON.stringify({ id, year, bytes, ...folded, titleLower, authorLower, trigrams }));
  }
  return `[${rows.join(',')}]`;
}
