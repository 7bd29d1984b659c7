import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../book/book-store.ts';
import { IdsExhausted } from '../errors.ts';
import type { FailureCause } from '../observer.ts';

/**
 * SQLSTATE classes that are caused by the server, the connection or other transactions (PostgreSQL documentation, appendix
 * A), and three codes: insufficient privilege, undefined table, sequence limit exceeded.
 */
const UNAVAILABLE = /^(08|25|28|3D|40|53|54|55|57|58|F0|XX|42501|42P01|2200H)/;

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
  return sqlState(error) !== undefined || error instanceof IdsExhausted;
}

/** Whether a statement failed because of concurrent transactions, without effect, and may be retried. */
export function isSerializationFailure(error: unknown): boolean {
  return hasState(error, /^(40001|40P01)$/);
}

/** Whether a statement failed because of its rows or of concurrent transactions, so that its connection can be used again. */
export function isConnectionIntact(error: unknown): boolean {
  return isSerializationFailure(error) || hasState(error, /^23/);
}

export function isReadOnly(error: unknown): boolean {
  return hasState(error, /^25006$/);
}

/** Whether the connection broke, the server closed it, or the server did not respond. */
export function isConnectionBroken(error: unknown): boolean {
  if (reasonOf(error) === NO_CONNECTION_FREE) return false;
  return sqlState(error) === undefined ? isConnectionError(error) : hasState(error, /^(08|57P)/);
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
  return isUnavailable ? new StoreUnavailable(reasonOf(error)) : error;
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
