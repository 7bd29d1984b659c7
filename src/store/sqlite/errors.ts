import { StoreUnavailable } from '../../book/book-store.ts';
import { StoreNotReady } from '../errors.ts';
import type { FailureCause } from '../observer.ts';

/** The result codes that the file, the disk or other processes cause (sqlite.org/rescode.html). */
const UNAVAILABLE: ReadonlyMap<number, string> = new Map([
  [3, 'SQLITE_PERM'],
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [7, 'SQLITE_NOMEM'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [15, 'SQLITE_PROTOCOL'],
  [22, 'SQLITE_NOLFS'],
  [23, 'SQLITE_AUTH'],
  [26, 'SQLITE_NOTADB'],
]);

/** The primary result code of an error of SQLite: the low byte of the extended one. */
function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === 5;
}

/** SQLITE_CANTOPEN, SQLITE_IOERR_FSTAT, or that the system does not find the file: perhaps it was deleted meanwhile. */
export function isNotOpened(error: unknown): boolean {
  if (resultCode(error) === 14) return true;
  if (error instanceof Error && 'errcode' in error) return error.errcode === 1_802;
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Whether the file is corrupt, or not a database. */
export function isDamaged(error: unknown): boolean {
  return [11, 26].includes(resultCode(error) ?? 0);
}

/** Whether the file is damaged, or a table or column that a statement uses is missing. */
export function isUnusable(error: unknown): boolean {
  return isDamaged(error) || resultCode(error) === 1;
}

/** SQLITE_IOERR_FSYNC or SQLITE_IOERR_DIR_FSYNC: earlier writes may be lost as well, even if the next sync succeeds. */
export function isSyncFailure(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && [1_034, 1_290].includes(Number(error.errcode));
}

/** SQLite has no code of its own for this. */
function isTableMissing(error: unknown): boolean {
  return resultCode(error) === 1 && (error as Error).message.startsWith('no such table: ');
}

/** SQLITE_TOOBIG: a text or a row is longer than the limit of the connection. */
export function isTooLong(error: unknown): boolean {
  return resultCode(error) === 18;
}

/** The extended result code of a violated constraint (sqlite.org/rescode.html); undefined for any other error. */
export function constraintCode(error: unknown): number | undefined {
  return resultCode(error) === 19 ? (error as { errcode: number }).errcode : undefined;
}

/**
 * Whether an expression or a trigger failed: SQLITE_TOOBIG, SQLITE_MISMATCH, or SQLITE_ERROR, where only the messages tell this from
 * a table or column that is missing.
 */
export function isExpressionFailure(error: unknown): boolean {
  if ([18, 20].includes(resultCode(error) ?? 0)) return true;
  return resultCode(error) === 1 && !/^no such |^cannot | has no column /.test((error as Error).message);
}

export function toNotReady(error: unknown, path: string): StoreNotReady {
  if (error instanceof StoreNotReady) return error;
  return new StoreNotReady(`the SQLite file ${path} cannot be opened or prepared (${codeOf(error)})`);
}

function codeOf(error: unknown): string {
  const code = resultCode(error);
  if (code !== undefined) return UNAVAILABLE.get(code) ?? `SQLite result code ${code}`;
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** The code of an error of SQLite or of the file system; undefined for any other error, which is a defect. */
export function reasonOf(error: unknown): string | undefined {
  const isExpected = resultCode(error) !== undefined || (error instanceof Error && 'syscall' in error);
  return isExpected ? codeOf(error) : undefined;
}

/** What to report of a failure: a code of SQLite or of the file system; for defects, the error. */
export function causeOf(error: unknown): FailureCause {
  return error instanceof StoreUnavailable ? error.reason : (reasonOf(error) ?? (error as Error));
}

/** An error in terms of the BookStore interface: StoreUnavailable, or the error itself. */
export function toStoreError(error: unknown): unknown {
  const name = isTableMissing(error) ? 'a table is missing' : UNAVAILABLE.get(resultCode(error) ?? 0);
  return name ? new StoreUnavailable(name) : error;
}
