import { DatabaseError } from 'pg';
import { LEFT_OUT, StoreUnavailable, TableRejection } from '../../book/book-store.ts';
import type { FailureCause } from '../observer.ts';

/**
 * SQLSTATE classes that are caused by the server, the connection or other transactions (PostgreSQL documentation, appendix
 * A), and two codes: insufficient privilege, undefined table.
 */
const UNAVAILABLE = /^(08|25|28|3D|40|53|54|55|57|58|F0|XX|42501|42P01)/;

export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined;
}

/**
 * Whether an error proves that a batch, which is one statement, has changed nothing: the server has rejected the statement. Errors
 * of the driver and of this service may occur after the commit.
 */
export function isUndone(error: unknown): boolean {
  return sqlState(error) !== undefined || error instanceof TableRejection;
}

/** Whether a statement failed because of concurrent transactions, without effect, and may be retried. */
export function isSerializationFailure(error: unknown): boolean {
  return hasState(error, /^(40001|40P01)$/);
}

/** Whether a statement failed because of its rows or of concurrent transactions, so that its connection can be used again. */
export function isConnectionIntact(error: unknown): boolean {
  return isSerializationFailure(error) || isRejection(error);
}

export function isReadOnly(error: unknown): boolean {
  return hasState(error, /^25006$/) && !isRejection(error);
}

/** Whether the connection broke, the server closed it, or the server did not respond. */
export function isConnectionBroken(error: unknown): boolean {
  if (reasonOf(error) === NO_CONNECTION_FREE) return false;
  return sqlState(error) === undefined
    ? isConnectionError(error)
    : hasState(error, /^(08|57P)/) && !isRejection(error);
}

/** Whether a statement failed, without effect, because a pooler does not have it or has another one of its name; or {@link isOutdatedPlan}. */
export function isPreparedStatementRejected(error: unknown): boolean {
  return hasState(error, /^(26000|42P05|0A000)$/);
}

/** Whether a prepared statement is outdated, because the table was altered; one of another name is not. */
export function isOutdatedPlan(error: unknown): boolean {
  return hasState(error, /^0A000$/);
}

/** Whether this user lacks a privilege, or the server a feature, or a table is missing. */
export function isUnsupported(error: unknown): boolean {
  return hasState(error, /^(0A|42|22023)/);
}

/** Why PostgreSQL does not prepare a store: it names a right that is missing, or says that there is no schema; otherwise as {@link reasonOf}. */
export function explainRefusal(error: unknown): string {
  return error instanceof Error && hasState(error, /^(42501|3F000)$/) ? error.message : reasonOf(error);
}

/** A short name of an error for operators. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined) return code;
  // The driver's own errors have only a text.
  const text = error instanceof Error ? error.message : '';
  return DRIVER_ERRORS.find(([pattern]) => pattern.test(text))?.[1] ?? 'connection broken';
}

/** What to report of a failure: a code of the server or of the connection; for defects, the error. */
export function causeOf(error: unknown): FailureCause {
  const storeError = toStoreError(error);
  if (storeError instanceof StoreUnavailable) return storeError.reason;
  return sqlState(error) === undefined && error instanceof Error ? error : reasonOf(error);
}

export const NO_TLS = 'no TLS';
export const NO_PASSWORD = 'a password is needed';

/** All connections of the pool stayed in use, which says nothing about the server. */
const NO_CONNECTION_FREE = 'no connection free';

const DRIVER_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^timeout exceeded when trying to connect$/, NO_CONNECTION_FREE],
  [/timeout/i, 'timeout'],
  [/password/i, NO_PASSWORD],
  [/ SSL connection/, NO_TLS],
  [/mechanism/i, 'unknown authentication method'],
];

/** Converts an error of the driver to StoreUnavailable; returns other errors unchanged. */
export function toStoreError(error: unknown): unknown {
  const isUnavailable =
    sqlState(error) === undefined ? isConnectionError(error) : hasState(error, UNAVAILABLE);
  return isUnavailable && !isRejection(error) ? new StoreUnavailable(reasonOf(error)) : error;
}

/**
 * Whether the table does not accept a row: SQLSTATE classes of data exceptions, of violated constraints and of errors in PL/pgSQL
 * (PostgreSQL documentation, appendix A); whatever a function raises, except what asks for a repetition; what a trigger of another
 * program has no table, right or stack for; a text that is too long for an index; and policies of row-level security, whose code is
 * that of a missing privilege.
 */
function isRejection(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError)) return false;
  const { constraint, routine } = error;
  if (hasState(error, /^(22|23|44|P0)/) || routine === 'ExecWithCheckOptions') return true;
  if (routine === RAISE) return !isSerializationFailure(error) && !OWN_FUNCTION.test(error.where ?? '');
  if (hasState(error, /^54000/)) return constraint !== undefined;
  return functionOf(error) !== undefined && hasState(error, DEFECT_OF_FUNCTION);
}

/** The function of PostgreSQL that executes RAISE in PL/pgSQL. */
const RAISE = 'exec_stmt_raise';
/** Classes of errors that a function has each time: what it needs is not there, or not allowed, or it calls itself without an end. */
const DEFECT_OF_FUNCTION = /^(09|0A|0Z|21|2F|38|39|42|54001)/;

/**
 * The function that was executed, the innermost one, in any language of the server: `PL/pgSQL function check_year() line 3 at RAISE`,
 * `fonction PL/pgSQL check_year(), ligne 3 à RAISE`. Undefined for those of the service.
 */
function functionOf({ where = '' }: DatabaseError): string | undefined {
  const name = /^(?:\S+ )?PL\/pgSQL\S*(?: \S+)? (\S+)\(/m.exec(where)?.[1];
  return OWN_FUNCTION.test(where) ? undefined : name;
}

/** A function of the service as the innermost one, such as `book_history_last`, which says that the server is a standby. */
const OWN_FUNCTION = /^.*PL\/pgSQL.*?\b(book_history_\w+|note_book_changes)\(/;

/** What a table does not accept as a TableRejection; any other error as it is. */
export function toRejection(error: unknown): unknown {
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
  if (code === '22012') return LEFT_OUT;
  if (code === '2200H') return 'the sequence of the ids, which has reached its end';
  return `SQLSTATE ${code}`;
}

function hasState(error: unknown, pattern: RegExp): boolean {
  return pattern.test(sqlState(error) ?? '');
}

/** Socket errors have a code; the driver's own errors are instances of Error itself, unlike a TypeError or other defects. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) !== undefined || error.constructor === Error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
