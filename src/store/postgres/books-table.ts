import type { ClientBase } from 'pg';
import { ID_MAX, YEAR_MAX } from '../../book/book.ts';
import { BOOK_FIELD_TYPES, EMPTY_BOOK, FIELD_NAMES, type FieldName } from '../../book/contract.ts';
import { StoreNotReady } from '../errors.ts';
import { advanceIdSequence } from './id-sequence.ts';
import { CHECKS, columnsAddedAfter, migrate, readState } from './migrations.ts';

/**
 * Creates the tables, or adopts an existing table of books. A migration that adds a column changes a table of another program, too,
 * which remains unchanged otherwise.
 *
 * @throws StoreNotReady when this is impossible
 */
export async function prepareTables(client: ClientBase): Promise<void> {
  await expectUtf8(client);
  const { version, relations } = await readState(client);
  const pending = columnsAddedAfter(version);
  // An existing table is checked before anything is changed.
  if (relations.has('books')) await expectUsable(client, pending);
  else await expectNoOtherSpelling(client);
  await migrate(client, version);
  if (pending.size > 0) await expectUsable(client);
  await advanceIdSequence(client);
}

/** @throws StoreNotReady like {@link expectBooks}, and what PostgreSQL says when this user may not read or write the books */
export async function expectUsable(client: ClientBase, pending?: ReadonlySet<string>): Promise<void> {
  await expectBooks(client, pending);
  // PostgreSQL verifies the rights of a statement when it explains it: with a right missing, a start would succeed and each request fail.
  await client.query(usesOf(FIELD_NAMES.filter((name) => !pending?.has(name))));
}

/** PostgreSQL takes a text for a number, too. */
const emptyText = (name: FieldName) => `'${EMPTY_BOOK[name]}'`;

/** What the service does with these columns. */
const usesOf = (names: readonly FieldName[]) => `
  explain select id, ${names.join()} from books;
  explain insert into books (${names.join()}) values (${names.map(emptyText).join()});
  explain update books set ${names.map((name) => `${name} = ${emptyText(name)}`).join()};
  explain delete from books
`;

/** @throws StoreNotReady when the database cannot store every text */
export async function expectUtf8(client: ClientBase): Promise<void> {
  const sql = `select current_setting('server_encoding') as encoding`;
  const [{ encoding } = {}] = await query<{ encoding?: string }>(client, sql);
  if (encoding !== 'UTF8') {
    throw new StoreNotReady(`the encoding of the database is ${encoding}, but must be UTF8`);
  }
}

/** @param pending the columns that a migration will add @throws StoreNotReady when the table of books is unsuitable */
export async function expectBooks(
  client: ClientBase,
  pending: ReadonlySet<string> = new Set(),
): Promise<void> {
  await expectColumns(client, pending);
  await expectExactNumbers(client);
}

/**
 * PostgreSQL takes `Books` for `books` and `"Books"` for another table. Where there is only this one, an empty table of books beside it
 * would be an accident.
 *
 * @throws StoreNotReady with the statement that makes it the table of books
 */
export async function expectNoOtherSpelling(client: ClientBase): Promise<void> {
  const [other] = await query<{ name: string }>(
    client,
    `select quote_ident(relname) as name from pg_class
     where lower(relname) = 'books' and relname <> 'books' and relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(oid)
     order by relname limit 1`,
  );
  if (other)
    throw new StoreNotReady(
      `there is no table books, but ${other.name}, which is another one in PostgreSQL; to use it: alter table ${other.name} rename to books;`,
    );
}

interface Column {
  readonly name: string;
  readonly quotedName: string;
  /** As declared, such as `character varying(255)`. */
  readonly type: string;
  /** The same without a length; of a domain, the type it is of. */
  readonly baseType: string;
  readonly hasDefault: boolean;
  readonly isRequired: boolean;
  readonly isGenerated: boolean;
  /** The sequence of its default, unless the column owns it. */
  readonly foreignSequence: string | null;
}

const SELECT_COLUMNS = `
  select attname as name, quote_ident(attname) as "quotedName", format_type(atttypid, atttypmod) as type,
    format_type(case typtype when 'd' then typbasetype else atttypid end, null) as "baseType",
    atthasdef or attidentity <> '' or typdefault is not null as "hasDefault", attnotnull or typnotnull as "isRequired",
    attgenerated <> '' as "isGenerated",
    case when pg_get_serial_sequence(attrelid::regclass::text, attname) is null
      then substring(pg_get_expr(adbin, adrelid) from '^nextval\\(''(.+)''::regclass\\)$') end as "foreignSequence"
  from pg_attribute join pg_type on pg_type.oid = atttypid left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = to_regclass('books') and attnum > 0 and not attisdropped
  order by attnum`;

async function expectColumns(client: ClientBase, pending: ReadonlySet<string>): Promise<void> {
  const [table] = await query<Table>(client, SELECT_TABLE);
  if (!table) {
    await expectNoOtherSpelling(client);
    throw new StoreNotReady('there is no table books');
  }
  if (table.kind !== null) throw new StoreNotReady(`books is not a table, but a ${table.kind}`);

  const columns = await query<Column>(client, SELECT_COLUMNS);
  for (const [name, types] of Object.entries(TYPES)) {
    const column = columns.find((candidate) => candidate.name === name);
    if (!column && pending.has(name)) continue;
    if (!column)
      throw new StoreNotReady(`the table books has no column ${name}${orOtherSpelling(name, columns)}`);
    const { type, baseType, isGenerated, hasDefault, foreignSequence } = column;
    if (!types.includes(baseType))
      throw new StoreNotReady(`the column ${name} of the table books is ${type}, not ${types[0]}`);
    if (isGenerated) throw new StoreNotReady(`the column ${name} of the table books is generated`);
    if (name === 'id' && !hasDefault) throw new StoreNotReady('the table books does not generate its ids');
    if (name === 'id' && foreignSequence)
      throw new StoreNotReady(
        `the column id of the table books does not own its sequence, so ids could be given out twice; to cure it: alter sequence ${foreignSequence} owned by books.id;`,
      );
  }
  if (!table.hasUniqueIds)
    throw new StoreNotReady(
      'the ids of the table books are not unique; to make them so: alter table books add unique (id);',
    );
  if (table.rule)
    throw new StoreNotReady(
      `the table books has the rule ${table.rule}, with which PostgreSQL does not run all statements of the service; use a trigger instead`,
    );
  if (table.mayFillColumns) return;
  const required = columns.find(
    ({ name, isRequired, hasDefault }) => !(name in TYPES) && isRequired && !hasDefault,
  );
  if (required)
    throw new StoreNotReady(
      `the column ${required.quotedName} of the table books is NOT NULL and has no default, so no book could be created`,
    );
}

/** What a column in another case is called, for a name that is missing. */
function orOtherSpelling(name: string, columns: readonly Column[]): string {
  const other = columns.find((column) => column.name.toLowerCase() === name)?.quotedName;
  return other === undefined
    ? ''
    : `, but ${other}, which is another one in PostgreSQL; to use it: alter table books rename column ${other} to ${name};`;
}

interface Table {
  /** What it is instead of a table. */
  readonly kind: string | null;
  /** Of a partitioned table, a unique index may have further columns. */
  readonly hasUniqueIds: boolean;
  /** One of its rules (CREATE RULE), if any. */
  readonly rule: string | null;
  /** Whether a trigger may set columns of new rows. */
  readonly mayFillColumns: boolean;
}

/** The type of a trigger has the bits 1 for each row, 2 for before and 4 for inserts. */
const SELECT_TABLE = `
  select
    case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table'
      when 'S' then 'sequence' when 'i' then 'index' when 'c' then 'type' end as kind,
    relkind = 'p' or exists (
      select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = pg_class.oid and indisunique and indisvalid and indpred is null and indnkeyatts = 1 and attname = 'id'
    ) as "hasUniqueIds",
    (select min(rulename) from pg_rewrite where ev_class = pg_class.oid and ev_enabled <> 'D') as rule,
    exists (
      select from pg_trigger where tgrelid = pg_class.oid and tgtype & 7 = 7 and tgenabled in ('O', 'A')
    ) as "mayFillColumns"
  from pg_class where oid = to_regclass('books')`;

const INTEGERS = ['bigint', 'integer', 'smallint'];
const TEXTS = ['text', 'character varying'];

/** The types of the columns of an adopted table, the first of each as in the first migration. */
export const TYPES: Readonly<Record<string, readonly string[]>> = {
  id: INTEGERS,
  ...Object.fromEntries(
    FIELD_NAMES.map((name) => [name, { text: TEXTS, integer: INTEGERS }[BOOK_FIELD_TYPES[name]]]),
  ),
};

/** An adopted table may contain numbers that a JSON number does not represent exactly. */
async function expectExactNumbers(client: ClientBase): Promise<void> {
  const constraints = await query(
    client,
    `select 1 from pg_constraint where conrelid = to_regclass('books') and conname in ('${CHECKS.join("', '")}')`,
  );
  if (constraints.length === CHECKS.length) return;
  const [row] = await query(
    client,
    `select 1 from books where id not between -${ID_MAX} and ${ID_MAX} or year not between -${YEAR_MAX} and ${YEAR_MAX} limit 1`,
  );
  if (row) throw new StoreNotReady('the table books has a row whose id or year is beyond ±(2^53-1)');
}

async function query<Row extends object>(client: ClientBase, text: string): Promise<Row[]> {
  const { rows } = await client.query<Row>(text);
  return rows;
}
