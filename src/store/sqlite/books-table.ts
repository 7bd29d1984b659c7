import type { DatabaseSync } from 'node:sqlite';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { BOOK_FIELD_TYPES, FIELD_NAMES, type FieldName } from '../../book/contract.ts';
import { StoreNotReady } from '../errors.ts';
import {
  columnsAddedAfter,
  findInSchema,
  isInSchema,
  migrate,
  ownBooksTables,
  readVersion,
} from './migrations.ts';
import { ID_TRIGGER } from './table-rejections.ts';

/**
 * Prepares the tables in a write transaction. A migration that adds a column changes a table of another program, too, which remains
 * unchanged otherwise.
 */
export function prepareTables(database: DatabaseSync): void {
  const isComplete = columnsAddedAfter(readVersion(database)).size === 0;
  migrate(database);
  if (!isComplete) expectBooks(database);
  dropOrphanedTriggers(database);
  if (hasOwnTable(database)) return;
  // A temporary trigger keeps ids exact without a change to the table.
  database.exec(`
    create temp trigger ${ID_TRIGGER} after insert on main.books when new.id > ${ID_MAX}
    begin
      select raise(abort, '${ID_TRIGGER}');
    end
  `);
}

/**
 * When an operator has dropped a table of the log of changes, its triggers would make every write fail: they are dropped, and the
 * history or the search creates both again.
 */
function dropOrphanedTriggers(database: DatabaseSync): void {
  if (isInSchema(database, 'book_changes') && isInSchema(database, 'book_history')) return;
  const triggers = database
    .prepare(`
      select name from sqlite_schema
      where type = 'trigger' and lower(tbl_name) = 'books' and (name glob 'book_history_*' or name glob 'book_ids_*')
    `)
    .all();
  for (const { name } of triggers) database.exec(`drop trigger ${String(name)}`);
}

/** Whether the service has made the table of books; its constraints then keep the rows valid. */
export function hasOwnTable(database: DatabaseSync): boolean {
  return ownBooksTables().has(findInSchema(database, 'books')?.sql);
}

/** Like {@link expectBooks}, but a file without the table is accepted. */
export function expectBooksIfAny(database: DatabaseSync): void {
  readVersion(database);
  if (isInSchema(database, 'books')) expectBooks(database);
}

/**
 * Checks the table of books before and after the migrations: before, it may lack what they will add.
 *
 * @throws StoreNotReady when there is none, or another program created it and it or a row is invalid
 */
export function expectBooks(database: DatabaseSync): void {
  const pending = columnsAddedAfter(readVersion(database));
  const { type, sql } = findInSchema(database, 'books') ?? {};
  if (type === undefined) throw new StoreNotReady('there is no table books');
  if (type !== 'table' || /^create\s+virtual\b/i.test(String(sql)))
    throw new StoreNotReady(`books is not a table, but a ${type === 'table' ? 'virtual table' : type}`);
  if (hasOwnTable(database)) return;
  expectColumns(database, String(sql), pending);
  const names = FIELD_NAMES.filter((name) => !pending.has(name));
  expectChangeable(database, names);
  const invalidRows = database.prepare(`
    select 1 from books
    where id not between -${ID_MAX} and ${ID_MAX}
      or ${names.map(isInvalid).join(' or ')}
  `);
  if (invalidRows.get())
    throw new StoreNotReady('the table books has an invalid row, or an id or year beyond ±(2^53-1)');
}

/** Whether a row has a value that is none of the field: NULL reads as empty. */
function isInvalid(name: FieldName): string {
  const type = BOOK_FIELD_TYPES[name];
  const isOther = `typeof(${name}) not in ('${type}', 'null')`;
  return type === 'text' ? isOther : `${isOther} or ${name} not between -${YEAR_MAX} and ${YEAR_MAX}`;
}

/**
 * Prepares statements that write these columns. On a connection that only reads, SQLite does not look for the functions of a CHECK.
 *
 * @throws StoreNotReady when a trigger or a constraint of the table needs a function, a table or a column that is not there
 */
function expectChangeable(database: DatabaseSync, names: readonly FieldName[]): void {
  const statements = [
    `insert into books (${names.join()}) values (${names.map(() => '?').join()})`,
    `update books set ${names.map((name) => `${name} = ?`).join()}`,
    'delete from books',
  ];
  try {
    for (const statement of statements) database.prepare(statement);
  } catch (error) {
    const { message } = error as Error;
    // A start puts the triggers of the service right.
    if (!OWN_TABLES.test(message)) throw new StoreNotReady(`the table books cannot be changed: ${message}`);
  }
}

const OWN_TABLES = /\bbook_(history|changes)/;

/** A column of a table. */
interface Column {
  readonly name: string;
  /** As declared, such as `VARCHAR(255)`; may be empty. */
  readonly type: string;
  readonly isRequired: 0 | 1;
  /** An expression of SQL. */
  readonly standard: string | null;
  readonly isKey: 0 | 1;
  readonly isGenerated: 0 | 1;
}

/** The columns of the table of books. */
export function columnsOfBooks(database: DatabaseSync): Column[] {
  const select = database.prepare(`
    select name, type, "notnull" as isRequired, dflt_value as standard, pk > 0 as isKey, hidden in (2, 3) as isGenerated
    from pragma_table_xinfo('books')
  `);
  return select.all() as unknown as Column[];
}

const FITTING = { text: ['text', 'blob'], integer: ['integer', 'numeric', 'blob'] };

/** The affinities with which SQLite gives back the values that the service stores; of a title `007`, a number would keep 7. */
export const AFFINITIES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  FIELD_NAMES.map((name) => [name, FITTING[BOOK_FIELD_TYPES[name]]]),
);

/** @throws StoreNotReady when a column is missing */
export function expectAllColumns(database: DatabaseSync, pending: ReadonlySet<string> = new Set()): void {
  const names = new Set(columnsOfBooks(database).map(({ name }) => name.toLowerCase()));
  for (const name of ['id', ...Object.keys(AFFINITIES)])
    if (!names.has(name) && !pending.has(name))
      throw new StoreNotReady(`the table books has no column ${name}`);
}

function expectColumns(database: DatabaseSync, sql: string, pending: ReadonlySet<string>): void {
  expectAllColumns(database, pending);
  const columns = columnsOfBooks(database);
  const find = (name: string) => columns.find((column) => column.name.toLowerCase() === name);
  const id = find('id') as Column;
  if (affinityOf(id.type) !== 'integer')
    throw new StoreNotReady(`the column id of the table books has the type ${id.type}, not INTEGER`);
  // Without comments, texts and quoted names.
  const words = sql.replace(
    /--.*|\/\*[\s\S]*?\*\/|'(?:''|[^'])*'|"(?:""|[^"])*"|`(?:``|[^`])*`|\[[^\]]*\]/g,
    ' ',
  );
  if (!id.isKey || !/\bautoincrement\b/i.test(words))
    throw new StoreNotReady(
      `the id of the table books is not AUTOINCREMENT, so ids could be reused; stop the programs that use the table, and create it anew: ${cureOf(columns)}`,
    );
  // Of an id or of NOT NULL, it replaces no other book.
  if (/(?<!\bnot\s+null\s+|\bprimary\s+key\s+(?:asc\s+|desc\s+)?)\bon\s+conflict\s+replace\b/i.test(words))
    throw new StoreNotReady(
      'the table books has ON CONFLICT REPLACE, with which a new book would delete another one; create the table anew without it',
    );
  for (const [name, affinities] of Object.entries(AFFINITIES)) {
    const column = find(name);
    if (!column) continue;
    const { type, isGenerated } = column;
    if (isGenerated) throw new StoreNotReady(`the column ${name} of the table books is generated`);
    if (!affinities.includes(affinityOf(type)))
      throw new StoreNotReady(
        `the column ${name} of the table books has the type ${type}, in which SQLite stores ${name === 'year' ? 'whole numbers' : 'some texts'} as other values; use ${name === 'year' ? 'INTEGER' : 'TEXT'}`,
      );
  }
  const required = columns.find(
    ({ isRequired, standard, isKey, isGenerated, name }) =>
      isRequired && standard === null && !isKey && !isGenerated && !(name.toLowerCase() in AFFINITIES),
  );
  if (required)
    throw new StoreNotReady(
      `the column ${required.name} of the table books is NOT NULL and has no default, so no book could be created`,
    );
}

/** The affinity of a declared type (sqlite.org/datatype3.html, section 3.1). */
function affinityOf(type: string): 'integer' | 'text' | 'blob' | 'real' | 'numeric' {
  if (/int/i.test(type)) return 'integer';
  if (/char|clob|text/i.test(type)) return 'text';
  if (/^$|blob/i.test(type)) return 'blob';
  return /real|floa|doub/i.test(type) ? 'real' : 'numeric';
}

/** Statements that give the table AUTOINCREMENT, in one line. Indexes, triggers and constraints of the table are not kept. */
function cureOf(columns: readonly Column[]): string {
  const kept = columns.filter(({ isGenerated }) => !isGenerated);
  const names = kept.map(({ name }) => quote(name)).join(', ');
  const definitions = kept.map(({ name, type, isRequired, standard }) => {
    if (name.toLowerCase() === 'id') return `${quote(name)} integer primary key autoincrement`;
    const rest = [type, isRequired ? 'not null' : '', standard === null ? '' : `default (${standard})`];
    return [quote(name), ...rest].filter(Boolean).join(' ');
  });
  const table = `books_new (${definitions.join(', ').replace(/\s+/g, ' ')})`;
  return `create table ${table}; insert into books_new (${names}) select ${names} from books; drop table books; alter table books_new rename to books;`;
}

function quote(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
