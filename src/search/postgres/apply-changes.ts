import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { ID_MAX } from '../../book/book.ts';
import type { Book } from '../../book/contract.ts';
import { idsOf } from '../../store/postgres/book-columns.ts';
import { foldBook } from '../folding.ts';
import { storedTextsOf } from '../stored-texts.ts';
import { type BlockRow, Positions } from './positions.ts';
import * as schema from './schema.ts';
import { trigramHashesOf } from './trigrams.ts';

/** The most entries of the queue, and the most books of ranges, in one step: with fewer, it falls behind thousands of changes a second. */
const STEP = 500;
/** The same while searches leave the queue to the background: in short steps, round trips would take most of the time. */
export const LONG_STEP = 5_000;
/** Less than each id that a book can have. */
const BEFORE_ALL = -ID_MAX - 1;
/** The text that is folded in one turn of the event loop, in UTF-16 code units. */
const LENGTH_PER_TURN = 16_384;

/** An entry of the queue: a range of ids of which books may have changed. They are text, as they may exceed the ids of books. */
interface QueuedRange {
  readonly first: string;
  readonly last: string;
}

/** A book with the part of its texts that is compared, and the length of all. */
interface IndexedBook extends Book {
  readonly bytes: number;
  /** Whether another one of the step follows, which may be read with the next ones. */
  readonly more: boolean;
}

/**
 * Applies some changes of the books, whose ids are in the queue, in a transaction that `beginApplying` has begun.
 *
 * @param max the most entries of the queue, and the most books of ranges
 * @returns whether these were all entries of its snapshot, and of how many books they were
 */
export async function applyChanges(
  client: PoolClient,
  max = STEP,
): Promise<{ readonly isDone: boolean; readonly count: number }> {
  const { rows: queued } = await client.query<QueuedRange>(schema.TAKE_QUEUED, [max]);
  const singles = queued.filter(({ first, last }) => first === last).map(({ first }) => first);
  if (singles.length > 0) await indexBooks(client, singles);
  const ranges = queued.filter(({ first, last }) => first !== last);
  const { remaining, count } = await indexRanges(client, ranges, max);
  if (remaining.length > 0) {
    const [firsts, lasts] = [remaining.map(({ first }) => first), remaining.map(({ last }) => last)];
    await client.query(schema.INSERT_QUEUED, [firsts, lasts]);
  }
  const isDone = remaining.length === 0 && queued.length < max;
  return { isDone, count: count + singles.length };
}

/** @returns what remains of the ranges, and how many books were indexed */
async function indexRanges(client: PoolClient, ranges: readonly QueuedRange[], max: number) {
  const remaining = [...ranges];
  let room = max;
  while (room > 0 && remaining.length > 0) {
    const { first, last } = remaining.shift() as QueuedRange;
    const { rows } = await client.query<{ id: string }>(schema.SELECT_RANGE, [first, last, room]);
    await indexBooks(client, idsOf(rows));
    const end = rows.at(-1)?.id;
    if (rows.length === room && end !== undefined && end !== last)
      remaining.unshift({ first: `${BigInt(end) + 1n}`, last });
    room -= rows.length;
  }
  return { remaining, count: max - room };
}

/** Replaces the index rows of books; those of deleted books are only removed. */
async function indexBooks(client: PoolClient, ids: readonly string[]): Promise<void> {
  await client.query(schema.DELETE_INDEXED, [ids]);
  let last: IndexedBook | undefined;
  do {
    const { rows: books } = await client.query<IndexedBook>(schema.SELECT_BOOKS, [
      ids,
      last?.id ?? BEFORE_ALL,
    ]);
    if (books.length > 0) {
      const { rows: full } = await client.query<BlockRow>(schema.INSERT_INDEXED, [await fold(books)]);
      await new Positions(client).split(full);
    }
    last = books.at(-1);
  } while (last?.more);
}

/** Texts are folded on the main thread, so other work of the event loop runs in between. @returns JSON */
async function fold(books: readonly IndexedBook[]): Promise<string> {
  const rows: string[] = [];
  let length = 0;
  for (const { id, title, author, year, bytes } of books) {
    if (length > LENGTH_PER_TURN) {
      await nextTurn();
      length = 0;
    }
    length += title.length + author.length;
    const folded = foldBook({ title, author });
    const stored = storedTextsOf({ title, author }, folded);
    // The server reads this several times faster than an array of JSON.
    const trigrams = `{${trigramHashesOf(folded.words).join(',')}}`;
    rows.push(JSON.stringify({ id, year, bytes, ...folded, ...stored, trigrams }));
  }
  return `[${rows.join(',')}]`;
}
