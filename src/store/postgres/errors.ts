import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../../book/book-store-interface.ts';

/**
 * The classes of SQLSTATE that say nothing about us but of the server, the connection or other transactions
 * (PostgreSQL documentation, appendix A), and three single ones: no privilege, no such table, sequence used up.
 */
const UNAVAILABLE = /^(08|25|28|3D|40|53|54|55|57|58|F0|XX|42501|42P01|2200H)/;

/** The SQLSTATE of an error of the server. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** The name of the constraint that a row broke. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined;
}

/** Whether a statement lost against concurrent transactions and may be sent again: nothing of it has happened. */
export function isSerializationFailure(error: unknown): boolean {
  return SERIALIZATION_FAILURES.has(sqlState(error) ?? '');
}

/** Whether a server refused a statement because it only reads at present: nothing of it has happened. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** Whether no connection came about, because nobody listens there, or a server that takes nobody at present. */
export function isConnectionRefused(error: unknown): boolean {
  const isOfConnecting = error instanceof AggregateError || (error instanceof Error && 'syscall' in error);
  if (isOfConnecting && codeOf(error) === 'ECONNREFUSED') return true;
  return sqlState(error) === '57P03';
}

/** Whether the connection broke, or the server sent us away or said nothing, and may be gone. */
export function isConnectionLost(error: unknown): boolean {
  if (reasonOf(error) === NO_CONNECTION_FREE) return false;
  const state = sqlState(error);
  return state === undefined ? isConnectionError(error) : /^(08|57P)/.test(state);
}

const SERIALIZATION_FAILURES: ReadonlySet<string> = new Set(['40001', '40P01']);

/**
 * Whether a prepared statement was refused for being one: the connection does not know it, or knows another of its
 * name, as happens behind poolers of connections; or the table has been altered since. Nothing of it has happened.
 */
export function isPreparedStatementRejected(error: unknown): boolean {
  return PREPARED_STATEMENT_REJECTED.has(sqlState(error) ?? '');
}

const PREPARED_STATEMENT_REJECTED: ReadonlySet<string> = new Set(['26000', '42P05', '0A000']);

/** Whether a prepared statement was refused because the table has been altered; one of another name is not. */
export function isOutdatedPlan(error: unknown): boolean {
  return sqlState(error) === '0A000';
}

/**
 * Whether a server does not have what was asked for, or does not let us have it: a feature, a function, a setting, a
 * right. Others that speak PostgreSQL's protocol lack some of it.
 */
export function isUnsupported(error: unknown): boolean {
  return /^(0A|42|22023|55P02)/.test(sqlState(error) ?? '');
}

/** A short name of an error for people who operate the service. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined) return code;
  // The driver's own errors have a text only.
  const text = error instanceof Error ? error.message : '';
  return DRIVER_ERRORS.find(([pattern]) => pattern.test(text))?.[1] ?? 'connection lost';
}

/** Why the driver gave up by itself, as {@link reasonOf} names it. */
export const NO_TLS = 'no TLS';
export const NO_PASSWORD = 'a password is needed';

/** All connections of the pool were in use by others all the time: that says nothing of the server. */
const NO_CONNECTION_FREE = 'no connection free';

const DRIVER_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^timeout exceeded when trying to connect$/, NO_CONNECTION_FREE],
  [/timeout/i, 'timeout'],
  [/password/i, NO_PASSWORD],
  [/ SSL connection/, NO_TLS],
  [/mechanism/i, 'unknown authentication method'],
];

/** An error of the driver in the terms of the BookStore interface: StoreUnavailable, or the error itself. */
export function toStoreError(error: unknown): unknown {
  const state = sqlState(error);
  const isUnavailable = state !== undefined ? UNAVAILABLE.test(state) : isConnectionError(error);
  return isUnavailable ? new StoreUnavailable(reasonOf(error)) : error;
}

/** Errors of sockets carry a code; the driver's own ones are plain, while a defect is a TypeError or the like. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) !== undefined || error.constructor === Error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
