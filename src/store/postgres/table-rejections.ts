import { DatabaseError } from 'pg';
import { LEFT_OUT, TableRejection } from '../../book/book-store.ts';
import { means } from './error-codes.ts';

/**
 * Whether the table does not accept a row: SQLSTATE classes of data exceptions, of violated constraints and of errors in PL/pgSQL
 * (PostgreSQL documentation, appendix A); whatever a function raises, except what asks for a repetition; what a trigger of another
 * program has no table, right or stack for; a text that is too long for an index; and policies of row-level security, whose code is
 * that of a missing privilege.
 */
export function isRejection(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError)) return false;
  const { constraint, routine } = error;
  if (means(error, 'row rejected') || routine === 'ExecWithCheckOptions') return true;
  if (routine === RAISE)
    return !means(error, 'serialization failure') && !OWN_FUNCTION.test(error.where ?? '');
  if (means(error, 'text too long for an index, or statement too complex')) return constraint !== undefined;
  return functionOf(error) !== undefined && means(error, 'defect of a function');
}

/** The function of PostgreSQL that executes RAISE in PL/pgSQL. */
const RAISE = 'exec_stmt_raise';

/**
 * The function that was executed, the innermost one, in any language of the server: `PL/pgSQL function check_year() line 3 at RAISE`,
 * `fonction PL/pgSQL check_year(), ligne 3 à RAISE`. Undefined for those of the service.
 */
function functionOf({ where = '' }: DatabaseError): string | undefined {
  const name = /^(?:\S+ )?PL\/pgSQL\S*(?: \S+)? (\S+)\(/m.exec(where)?.[1];
  return OWN_FUNCTION.test(where) ? undefined : name;
}

/** A function of the service as the innermost one, such as `book_history_last`, which says that the server is a standby. */
const OWN_FUNCTION = /^.*PL\/pgSQL.*?\b(record_book_history|book_history_\w+|note_book_changes)\(/;

/** What a table does not accept as a TableRejection; any other error as it is. */
export function toTableRejection(error: unknown): unknown {
  return isRejection(error) ? new TableRejection(rejecting(error)) : error;
}

/** Names of the database, and no text of the driver, as that may have values. */
function rejecting(error: DatabaseError): string {
  const { code = '', constraint, column, table, dataType, routine, message } = error;
  const of = [
    table && table !== 'books' ? ` of ${table}` : '',
    dataType ? ` of the type ${dataType}` : '',
  ].join('');
  if (constraint) return `constraint ${constraint}${of}`;
  if (routine === 'ExecWithCheckOptions') return 'row-level security';
  const name = functionOf(error);
  if (name)
    return `trigger function ${name}${routine === RAISE || code === 'P0004' ? '' : ` (SQLSTATE ${code})`}`;
  if (code === '23502') return `NOT NULL (${column ?? ''})${of}`;
  if (code === '22001')
    return `the length of a column${/ character varying\(\d+\)/.exec(message)?.[0] ?? ''}`;
  if (code === '22003') return 'the range of a column';
  if (means(error, 'division by zero')) return LEFT_OUT;
  if (code === '2200H') return 'the sequence of the ids, which has reached its end';
  return `SQLSTATE ${code}`;
}
