/** What a result code means for the call in which it occurs. */
export type Meaning =
  /** The file, the disk or other processes are the cause, as they are of the next five. */
  | 'unavailable'
  | 'busy'
  /** Perhaps the file was deleted meanwhile. */
  | 'not opened'
  /** The file is corrupt, or not a database. */
  | 'damaged'
  /** Perhaps FTS5 has read the size from a damaged table. */
  | 'no memory'
  /** Earlier writes may be lost as well, even if the next sync succeeds. */
  | 'not synced'
  | 'constraint'
  /** A text or a row is longer than the limit of the connection. */
  | 'too long'
  | 'mismatch'
  /** An expression fails, or a table or a column is missing: only the message says which. */
  | 'statement';

/** The result codes (sqlite.org/rescode.html): an extended one, or else its low byte, the primary one. */
const RESULT_CODES: ReadonlyMap<number, readonly [name: string, meaning: Meaning]> = new Map([
  [1, ['SQLITE_ERROR', 'statement']],
  [3, ['SQLITE_PERM', 'unavailable']],
  [5, ['SQLITE_BUSY', 'busy']],
  [6, ['SQLITE_LOCKED', 'unavailable']],
  [7, ['SQLITE_NOMEM', 'no memory']],
  [8, ['SQLITE_READONLY', 'unavailable']],
  [10, ['SQLITE_IOERR', 'unavailable']],
  [1_034, ['SQLITE_IOERR', 'not synced']], // SQLITE_IOERR_FSYNC
  [1_290, ['SQLITE_IOERR', 'not synced']], // SQLITE_IOERR_DIR_FSYNC
  [1_802, ['SQLITE_IOERR', 'not opened']], // SQLITE_IOERR_FSTAT
  [11, ['SQLITE_CORRUPT', 'damaged']],
  [13, ['SQLITE_FULL', 'unavailable']],
  [14, ['SQLITE_CANTOPEN', 'not opened']],
  [15, ['SQLITE_PROTOCOL', 'unavailable']],
  [18, ['SQLITE_TOOBIG', 'too long']],
  [19, ['SQLITE_CONSTRAINT', 'constraint']],
  [20, ['SQLITE_MISMATCH', 'mismatch']],
  [22, ['SQLITE_NOLFS', 'unavailable']],
  [23, ['SQLITE_AUTH', 'unavailable']],
  [26, ['SQLITE_NOTADB', 'damaged']],
]);

/** The result code of an error of SQLite; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined;
}

/** The name and the meaning of an error of SQLite. */
export function readError(error: unknown): readonly [name?: string, meaning?: Meaning] {
  const code = resultCode(error);
  if (code === undefined) return [];
  return RESULT_CODES.get(code) ?? RESULT_CODES.get(code & 0xff) ?? [`SQLite result code ${code & 0xff}`];
}

/** Whether an error of SQLite has one of these meanings. */
export function means(error: unknown, ...meanings: readonly Meaning[]): boolean {
  const [, meaning] = readError(error);
  return meaning !== undefined && meanings.includes(meaning);
}
