import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Book } from '../../book/book.ts';
import { idsOf } from '../../store/postgres/book-columns.ts';
import { foldBook } from '../folding.ts';
import * as schema from './schema.ts';
import { storedLower } from './stored-lower.ts';
import { trigramHashesOf } from './trigrams.ts';

/** The most changes, and the most books of ranges, in one step: with fewer, it falls behind thousands of changes in a second. */
const CHANGES_PER_STEP = 500;
const BOOKS_PER_STEP = 500;
/** The text that is folded in one turn of the event loop, in UTF-16 code units. */
const LENGTH_PER_TURN = 16_384;

/** The range of ids that may have changed. They are text, as they may exceed the ids of books. */
interface Change {
  readonly first: string;
  readonly last: string;
}

/** A book with the part of its texts that is compared, and the length of all. */
interface IndexedBook extends Book {
  readonly bytes: number;
}

/**
 * Applies some changes of the books in a transaction that `beginApplying` has begun.
 *
 * @returns whether these were all changes of its snapshot, and of how many books they were
 */
export async function applyChanges(
  client: PoolClient,
): Promise<{ readonly isDone: boolean; readonly count: number }> {
  const { rows: changes } = await client.query<Change>(schema.TAKE_CHANGES, [CHANGES_PER_STEP]);
  const singles = changes.filter(({ first, last }) => first === last).map(({ first }) => first);
  if (singles.length > 0) await indexBooks(client, singles);
  const ranges = changes.filter(({ first, last }) => first !== last);
  const { remaining, count } = await indexRanges(client, ranges);
  if (remaining.length > 0) {
    const [firsts, lasts] = [remaining.map(({ first }) => first), remaining.map(({ last }) => last)];
    await client.query(schema.INSERT_CHANGES, [firsts, lasts]);
  }
  const isDone = remaining.length === 0 && changes.length < CHANGES_PER_STEP;
  return { isDone, count: count + singles.length };
}

/** @returns what remains of the ranges, and how many books were indexed */
async function indexRanges(client: PoolClient, ranges: readonly Change[]) {
  const remaining = [...ranges];
  let room = BOOKS_PER_STEP;
  while (room > 0 && remaining.length > 0) {
    const { first, last } = remaining.shift() as Change;
    const { rows } = await client.query<{ id: string }>(schema.SELECT_RANGE, [first, last, room]);
    await indexBooks(client, idsOf(rows));
    const end = rows.at(-1)?.id;
    if (rows.length === room && end !== undefined && end !== last)
      remaining.unshift({ first: `${BigInt(end) + 1n}`, last });
    room -= rows.length;
  }
  return { remaining, count: BOOKS_PER_STEP - room };
}

/** Replaces the index rows of books; those of deleted books are only removed. */
async function indexBooks(client: PoolClient, ids: readonly string[]): Promise<void> {
  const { rows: books } = await client.query<IndexedBook>(schema.SELECT_BOOKS, [ids]);
  await client.query(schema.DELETE_INDEXED, [ids]);
  await client.query(schema.INSERT_INDEXED, [await fold(books)]);
}

/** Texts are folded on the main thread, so other work of the event loop runs in between. @returns JSON */
async function fold(books: readonly IndexedBook[]): Promise<string> {
  const rows: string[] = [];
  let length = 0;
  for (const { id, title, author, year, bytes } of books) {
    if (length > LENGTH_PER_TURN) {
      await endOfTurn();
      length = 0;
    }
    length += title.length + author.length;
    const folded = foldBook({ title, author, year });
    const titleLower = storedLower(title, folded.titleKey, folded.titleLower);
    const authorLower = storedLower(author, folded.authorKey, folded.authorLower);
    const trigrams = trigramHashesOf(folded.words);
    rows.push(JSON.stringify({ id, year, bytes, ...folded, titleLower, authorLower, trigrams }));
  }
  return `[${rows.join(',')}]`;
}
