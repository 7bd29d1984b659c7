import type { DatabaseSync } from 'node:sqlite';
import { prepareOnce } from '../../changes/sqlite/prepared.ts';
import { storedWords } from '../stored-texts.ts';
import { SQLITE_DIALECT } from './index-dialect.ts';
import { listedBeginningOf } from './trigrams.ts';

/** FTS5 makes a list of so many books in a few milliseconds. */
const COMMON_BOOKS = 20_000;
/** The books by which the number of those with a shorter beginning is estimated. */
const ESTIMATED_BY = 2_000;
/** Few ids may be far below the others. */
const MIDDLE = ESTIMATED_BY / 2;
/** One of so many of those is read, for the share of the whole beginning. */
const READ_EACH = 40;
/** The time after which a beginning is estimated again. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1_000;

/** The beginnings of words that many books have, by an estimate: whichever it is, searches have the same results. */
export class CommonBeginnings {
  readonly #known = new Map<string, { readonly isCommon: boolean; readonly untilMs: number }>();

  has(beginning: string, index: DatabaseSync): boolean {
    const now = performance.now();
    const known = this.#known.get(beginning);
    if (known && now < known.untilMs) return known.isCommon;
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    const isCommon = estimateBooks(beginning, index) >= COMMON_BOOKS;
    this.#known.set(beginning, { isCommon, untilMs: now + REMEMBERED_MS });
    return isCommon;
  }
}

/** The number of books with a word that begins so, if they are as frequent everywhere as among the second half of those listed. */
function estimateBooks(beginning: string, index: DatabaseSync): number {
  const row = prepareOnce(index, ESTIMATE).get(`"${listedBeginningOf(beginning)}"*`, ` ${beginning}`);
  const { books, from, reached, last, share } = row as {
    books: number;
    from: number;
    reached: number;
    last: number;
    share: number | null;
  };
  if (books < ESTIMATED_BY) return 0;
  return (share ?? 0) * (MIDDLE + ((books - MIDDLE) * (last - from)) / (reached - from));
}

const ESTIMATE = `
  with listed as materialized (
    select rowid as id from book_words where book_words match ?1 order by rowid limit ${ESTIMATED_BY}
  )
  select count(*) as books, max(id) as reached,
    (select id from listed order by id limit 1 offset ${MIDDLE - 1}) as "from", (select max(id) from book_search) as last, (
    select avg(instr(${storedWords(SQLITE_DIALECT)}, ?2) > 0)
    from (select id, row_number() over () as number from listed) as candidates cross join book_search using (id)
    where number % ${READ_EACH} = 0
  ) as share
  from listed`;
