import { quoteLiteral } from '../../changes/postgres/triggers.ts';
import type { AccessPath } from '../snapshot.ts';

// The index has the trigrams of each range of ids separately. A page by id reads those of the first ranges, and a search ends when it has
// too many candidates, while PostgreSQL reads all that a GIN index has of a trigram before it returns the first one.

const RANGE_BITS = 16;
/** The number of ids in a range. */
export const RANGE_IDS = 2 ** RANGE_BITS;
/** The number of ranges that differ in the index: after the last one, their numbers begin again, so that scattered ids have no more. */
export const RANGES = 512;

/**
 * The entry of a trigram in the index, in SQL.
 *
 * @param range the number of a range of ids, in SQL
 * @param trigram a number from 0 to 65535, in SQL
 */
function entryOf(range: string, trigram: string): string {
  return `((${range} & ${RANGES - 1}) << 16)::integer + ${trigram}`;
}

/** Creates the function that returns the entries of a book in the index. */
export function createEntries(schema: string): string {
  const entry = entryOf(`id >> ${RANGE_BITS}`, '(trigram::integer & 65535)');
  return `
    create or replace function ${schema}.book_search_entries(id bigint, trigrams smallint[]) returns integer[]
      language sql immutable strict parallel safe
    as ${quoteLiteral(`select array(select ${entry} from unnest(trigrams) as trigram)`)};
  `;
}

/** As {@link createEntries} returns them. */
export const ENTRIES = 'book_search_entries(id, trigrams)';

/** The books that have some trigrams, of all ids. */
export function candidatesOfAll(trigrams: readonly number[]): AccessPath {
  const first = `(select min(id) from book_search) >> ${RANGE_BITS}`;
  const last = `(select max(id) from book_search) >> ${RANGE_BITS}`;
  return () => candidatesOf(trigrams, first, `least(${last}, (${first}) + ${RANGES - 1})`);
}

/** The books that have some trigrams, of the ids from one to another one, which are of at most {@link RANGES} ranges. */
export function candidatesAmong(trigrams: readonly number[], first: number, last: number): AccessPath {
  return (parameters) => {
    const [from, to] = [parameters.add(first), parameters.add(last)].map((id) => `${id}::bigint`);
    return `${candidatesOf(trigrams, `${from} >> ${RANGE_BITS}`, `${to} >> ${RANGE_BITS}`)} where id between ${from} and ${to}`;
  };
}

/** Without `offset 0`, PostgreSQL could read all books of the ids instead. */
function candidatesOf(trigrams: readonly number[], firstRange: string, lastRange: string): string {
  const entries = trigrams.map((trigram) => entryOf('range', `${trigram & 0xffff}`));
  return `
    select candidates.* from generate_series(${firstRange}, ${lastRange}) as range
      cross join lateral (
        select ${CANDIDATE_COLUMNS} from book_search where ${ENTRIES} @> array[${entries.join(', ')}] offset 0
      ) as candidates`;
}

/** All columns but the trigrams. Of long texts, PostgreSQL keeps only references. */
export const CANDIDATE_COLUMNS =
  'id, title_key, author_key, twin_key, year, bytes, title_lower, author_lower, words';
