import type { DatabaseSync } from 'node:sqlite';
import { TableRejection } from '../../book/book-store.ts';
import { means, resultCode } from './error-codes.ts';
import { isExpressionFailure } from './errors.ts';

/**
 * A violated constraint, or one that fails itself, as a TableRejection, with the names of SQLite; any other error as it is.
 *
 * @param findIndex the index of the book in a call with several; it runs only in the transaction of the call
 */
export function toTableRejection(
  database: DatabaseSync,
  error: unknown,
  findIndex?: () => number | undefined,
): unknown {
  const isRejection = error instanceof TableRejection;
  if (!isRejection && !means(error, 'constraint') && !isExpressionFailure(error)) return error;
  // `on conflict rollback` has ended it.
  const index = database.isTransaction ? findIndex?.() : undefined;
  if (isRejection) return index === undefined ? error : new TableRejection(error.constraint, index);
  const name = means(error, 'constraint')
    ? nameOf(database, resultCode(error), (error as Error).message)
    : FAILING;
  return new TableRejection(name, index);
}

/** SQLite does not say which one it is, and its message may have values: `malformed JSON`. */
const FAILING = 'an expression of a constraint, a trigger, an index or a column, which SQLite cannot compute';

/** A temporary trigger of this service, and what it raises. */
export const ID_TRIGGER = 'books_id_exact';

/**
 * SQLite has the names in the messages only: `UNIQUE constraint failed: books.title, books.author`, where a colon ends what is not a
 * name. For a CHECK without a name the message has its SQL, and for a trigger what its author wrote.
 */
function nameOf(database: DatabaseSync, code: number | undefined, message: string): string {
  const [, subject = ''] = message.split(/: (.*)/s);
  switch (code) {
    case 1_555:
    case 2_579:
      return `PRIMARY KEY (${subject})`;
    case 2_067:
      return `UNIQUE (${subject})`;
    case 1_299:
      return `NOT NULL (${subject})`;
    case 275:
      return /^[\p{L}\p{N}_$]+$/u.test(subject) ? `CHECK ${subject}` : 'CHECK';
    case 3_091:
      return `the type of ${/\S+$/.exec(message)?.[0]}`;
    case 787:
      return oneOf('FOREIGN KEY', database.prepare(SELECT_REFERRERS).all());
    case 1_811:
      return message === ID_TRIGGER
        ? `trigger ${message}`
        : oneOf('trigger', database.prepare(SELECT_TRIGGERS).all());
    default:
      return 'a constraint';
  }
}

/** SQLite does not say which one of them it is. */
function oneOf(kind: string, rows: readonly object[]): string {
  return [kind, rows.map((row) => (row as { name: string }).name).join(' or ')].join(' ').trim();
}

/** The tables whose rows refer to books, or that of the books. */
const SELECT_REFERRERS = `
  select distinct 'of ' || tables.name as name
  from sqlite_schema as tables join pragma_foreign_key_list(tables.name) as keys
  where tables.type = 'table' and 'books' in (lower(keys."table"), lower(tables.name))
  order by 1
`;

/** The triggers that may raise an error. */
const SELECT_TRIGGERS = `
  select name from sqlite_schema
  where type = 'trigger' and lower(tbl_name) = 'books' and sql like '%raise%'
  order by name
`;
