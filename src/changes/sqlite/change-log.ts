import type { DatabaseSync } from 'node:sqlite';
import { findInSchema, isInSchema } from '../../store/sqlite/migrations.ts';
import type { LogPlace, LogPosition } from '../log-position.ts';
import { BOOKS, COMMON, type Definition, GAP_ID, IDS, NONCE, NOW_MS, nameOf, TABLES } from './tables.ts';

/**
 * The log of changes, in which triggers note what any program writes, in its transaction. It has two modes: with a history it has
 * the books themselves, otherwise only their ids, for the search index. Both follow it by the rule of
 * log-position.ts.
 */

/** Whether there is a log, or a part of it. */
export function hasChangeLog(database: DatabaseSync): boolean {
  return [...TABLES, ...BOOKS, ...IDS].map(nameOf).some((name) => isInSchema(database, name));
}

/**
 * Makes the log record the books, or else the ids, in a write transaction. What was recorded stays. If it was not defined exactly
 * so, changes may have been missed, and a gap is noted.
 *
 * @param days how long changes are kept; undefined for the ids
 */
export function defineChangeLog(database: DatabaseSync, days: number | undefined): void {
  const [definitions, others] = days === undefined ? [IDS, BOOKS] : [BOOKS, IDS];
  const isContinued =
    [...TABLES, ...COMMON, ...definitions].every((definition) => isDefined(database, definition)) &&
    others.map(nameOf).every((name) => !isInSchema(database, name)) &&
    database.prepare('select 1 from book_history').get() !== undefined;
  if (!isContinued) {
    const last = readLastNumber(database);
    drop(database, [...COMMON, ...definitions, ...others]);
    const tables = TABLES.filter((table) => !isDefined(database, table));
    drop(database, tables);
    for (const definition of [...tables, ...COMMON, ...definitions])
      database.exec(`create ${definition.join(' ')}`);
    database.exec(RESET);
    database.prepare(NOTE_GAP).run(last);
    database.exec(BEGIN_AT_GAP);
  }
  database.prepare('update book_history set days = ?').run(days ?? null);
}

const RESET = `
  insert into book_history (removed, removed_nonce) select 0, 0 where not exists (select 1 from book_history);
  delete from book_changes_by_book;
  update book_history set indexed = 0;
`;

/**
 * The number of a gap is above all that were given out, also where the table is made anew here. Where it was dropped before, nothing says
 * which were.
 */
const NOTE_GAP = `
  insert into book_changes (note, id, type, at, nonce)
  select 1 + max(?, coalesce((select max(note) from book_changes), 0), removed), ${GAP_ID}, 'gap', ${NOW_MS}, ${NONCE}
  from book_history limit 1
`;

const BEGIN_AT_GAP = `
  update book_history set (removed, removed_nonce) = (select note, nonce from book_changes order by note desc limit 1);
`;

/** The place after the last change, or after what was removed. */
export const SELECT_LAST = `
  select * from (select note as position, nonce from book_changes order by note desc limit 1)
  union all select removed, removed_nonce from book_history order by 1 desc limit 1
`;

/** A row for {@link toPlace}. @param position the position of a follower as SQL */
export function selectPlace(position: string): string {
  return `
    select removed, removed_nonce as removedNonce, days,
      (select nonce from book_changes where note = ${position}) as nonce
    from book_history`;
}

export interface PlaceRow {
  readonly removed: number;
  readonly removedNonce: number;
  readonly days: number | null;
  readonly nonce: number | null;
}

export function toPlace({ removed, removedNonce, nonce }: PlaceRow): LogPlace {
  const start: LogPosition = { position: removed, nonce: removedNonce };
  return { start, nonce: nonce ?? undefined };
}

/** The highest number that was given out; 0 if there is no log. SQLite forgets it with the table. */
function readLastNumber(database: DatabaseSync): number {
  if (!isInSchema(database, 'sqlite_sequence')) return 0;
  const { last } = database.prepare(SELECT_LAST_NUMBER).get() as { last: number };
  return last;
}

const SELECT_LAST_NUMBER =
  "select coalesce(max(seq), 0) as last from sqlite_sequence where name = 'book_changes' collate nocase";

/** Drops what has these names, of whatever kind it is. */
function drop(database: DatabaseSync, definitions: readonly Definition[]): void {
  for (const name of definitions.map(nameOf)) {
    const { type } = findInSchema(database, name) ?? {};
    if (type !== undefined) database.exec(`drop ${type} ${name}`);
  }
}

function isDefined(database: DatabaseSync, definition: Definition): boolean {
  const [kind, text] = definition;
  return findInSchema(database, nameOf(definition))?.sql === `CREATE ${kind.toUpperCase()} ${text}`;
}
