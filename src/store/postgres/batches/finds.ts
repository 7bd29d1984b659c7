import type { Book } from '../../../book/contract.ts';
import { BOOK_COLUMNS, matchIds } from '../book-columns.ts';
import type { BatchStatement, Database } from '../pool/database.ts';

/**
 * The ids of a batch. The subquery hides from PostgreSQL how many they are. A plan for three ids seems better to it than the
 * prepared one, which is for ten; so it would plan each batch of three again, which takes longer than to execute it.
 */
export const IDS = '(select $1::bigint[])';

export const SELECT: BatchStatement = {
  name: 'find',
  text: `select ${BOOK_COLUMNS} from books where id = any(${IDS}::bigint[])`,
  one: `select ${BOOK_COLUMNS} from books where id = $1::bigint`,
};

/** The books of a batch, in the order of the ids; undefined where there is none. */
export async function findBooks(database: Database, ids: readonly number[]): Promise<(Book | undefined)[]> {
  return matchIds(ids, await database.queryBatch<Book>(SELECT, [ids]));
}
