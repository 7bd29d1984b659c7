import { StoreUnavailable } from '../../book/book-store.ts';
import { StoreNotReady } from '../errors.ts';
import type { FailureCause } from '../observer.ts';
import { type Meaning, means, readError } from './error-codes.ts';

const UNAVAILABLE: ReadonlySet<Meaning | undefined> = new Set<Meaning>([
  'unavailable',
  'busy',
  'not opened',
  'damaged',
  'no memory',
  'not synced',
]);

/** Whether another connection has locked the file. */
export function isBusy(error: unknown): boolean {
  return means(error, 'busy');
}

/** Also if the system does not find the file. */
export function isNotOpened(error: unknown): boolean {
  return means(error, 'not opened') || (error instanceof Error && 'code' in error && error.code === 'ENOENT');
}

/** Whether the file is corrupt, or no database. */
export function isDamaged(error: unknown): boolean {
  return means(error, 'damaged');
}

/** Whether a statement is wrong, or a table or a column that it uses is missing. */
export function isStatementFailure(error: unknown): boolean {
  return means(error, 'statement');
}

/** Whether a sync has failed, after which earlier commits may be lost, too. */
export function isSyncFailure(error: unknown): boolean {
  return means(error, 'not synced');
}

/** Whether a text, a row or a statement was longer than the limit of the connection. */
export function isTooLong(error: unknown): boolean {
  return means(error, 'too long');
}

/** Whether an expression or a trigger failed. */
export function isExpressionFailure(error: unknown): boolean {
  if (means(error, 'too long', 'mismatch')) return true;
  return means(error, 'statement') && !/^no such |^cannot | has no column /.test((error as Error).message);
}

/** The code of an error of SQLite or of the file system; undefined for any other error, which is a defect. */
export function reasonOf(error: unknown): string | undefined {
  const [name] = readError(error);
  if (name !== undefined) return name;
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

/** What to report of a failure: a code of SQLite or of the file system; for defects, the error. */
export function causeOf(error: unknown): FailureCause {
  return error instanceof StoreUnavailable ? error.reason : (reasonOf(error) ?? (error as Error));
}

/** An error in terms of the BookStore interface: StoreUnavailable, or the error itself. */
export function toStoreError(error: unknown): unknown {
  const [name, meaning] = readError(error);
  if (name !== undefined && UNAVAILABLE.has(meaning)) return new StoreUnavailable(name);
  const isTableMissing = meaning === 'statement' && (error as Error).message.startsWith('no such table: ');
  return isTableMissing ? new StoreUnavailable('a table is missing') : error;
}

/** An error of a start. */
export function toNotReady(error: unknown, path: string): StoreNotReady {
  if (error instanceof StoreNotReady) return error;
  const reason = reasonOf(error) ?? String(error);
  return new StoreNotReady(`the SQLite file ${path} cannot be opened or prepared (${reason})`);
}
