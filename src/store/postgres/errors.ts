import { StoreUnavailable, TableRejection } from '../../book/book-store.ts';
import type { FailureCause } from '../observer.ts';
import { means, sqlState } from './error-codes.ts';
import { isRejection } from './table-rejections.ts';

/**
 * Whether an error proves that a batch, which is one statement, has changed nothing: the server has rejected the statement. Errors
 * of the driver and of this service may occur after the commit.
 */
export function isUndone(error: unknown): boolean {
  return sqlState(error) !== undefined || error instanceof TableRejection;
}

/** Whether a statement failed because of its rows or of concurrent transactions, so that its connection can be used again. */
export function isConnectionIntact(error: unknown): boolean {
  return means(error, 'serialization failure') || isRejection(error);
}

/** Whether the server takes no writes, as a standby or by its settings. */
export function isReadOnly(error: unknown): boolean {
  return means(error, 'read-only') && !isRejection(error);
}

/** Whether the connection broke, the server closed it, or the server did not respond. */
export function isConnectionBroken(error: unknown): boolean {
  if (reasonOf(error) === NO_CONNECTION_FREE) return false;
  return sqlState(error) === undefined
    ? isConnectionError(error)
    : means(error, 'connection broken') && !isRejection(error);
}

/** Whether this user lacks a privilege, or the server a feature, or a table is missing. */
export function isUnsupported(error: unknown): boolean {
  return means(error, 'unsupported');
}

/** Why a store cannot be prepared: in the words of PostgreSQL if a right or a schema is missing, otherwise as {@link reasonOf}. */
export function explainStartFailure(error: unknown): string {
  return error instanceof Error && means(error, 'no right or schema') ? error.message : reasonOf(error);
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

/**
 * An error of an unavailable server or connection as StoreUnavailable; any other error as it is. It leaves what `toTableRejection`
 * converts, such as SQLSTATE 23505, and that leaves what this converts, such as 57P01: they may be called in any order.
 */
export function toStoreError(error: unknown): unknown {
  const isUnavailable =
    sqlState(error) === undefined ? isConnectionError(error) : means(error, 'unavailable');
  return isUnavailable && !isRejection(error) ? new StoreUnavailable(reasonOf(error)) : error;
}

/** Socket errors have a code; the driver's own errors are instances of Error itself, unlike a TypeError or other defects. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) !== undefined || error.constructor === Error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
