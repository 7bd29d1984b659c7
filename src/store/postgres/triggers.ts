/** The events of triggers on the books, and the rows that they see. */
const TRIGGERS = {
  insert: 'after insert on %s referencing new table as added',
  update: 'after update on %s referencing old table as removed new table as added',
  delete: 'after delete on %s referencing old table as removed',
  truncate: 'before truncate on %s',
};

/**
 * The table of books and its partitions, each of which needs triggers: those of the table a statement names are called, so
 * what another program writes into a partition calls those of the partition only. Partitions of other kinds have none.
 *
 * @param schema the name of the schema as SQL
 */
function tablesOfBooks(schema: string): string {
  return `(
    with recursive tables (oid) as (
      select to_regclass(${quoteLiteral(`${schema}.books`)})::oid
      union select inhrelid from pg_inherits join tables on inhparent = tables.oid
    )
    select tables.oid from tables join pg_class on pg_class.oid = tables.oid where relkind in ('r', 'p')
  )`;
}

/**
 * Creates the triggers that call a function after each statement on the books, and drops them where a partition was
 * detached. A trigger that is enabled ALWAYS remains so.
 *
 * @param name the function, which exists
 */
export function createTriggers(prefix: string, schema: string, name: string): string {
  const triggers = Object.entries(TRIGGERS).map(
    ([event, when]) => `
        execute format('create or replace trigger ${prefix}_${event} ${when} for each statement execute function %s()',
          part, ${quoteLiteral(`${schema}.${name}`)});`,
  );
  return `
    ${dropTriggers(schema, name, `tgrelid not in ${tablesOfBooks(schema)}`)}
    do $do$
    declare
      part regclass;
      always name[];
      trigger name;
    begin
      for part in select oid from ${tablesOfBooks(schema)} as tables loop
        always := array(${selectTriggers(schema, name, `tgrelid = part and tgenabled = 'A'`)});${triggers.join('')}
        foreach trigger in array always loop
          execute format('alter table %s enable always trigger %I', part, trigger);
        end loop;
      end loop;
    end $do$;
  `;
}

/** Drops the triggers that call a function, if there is one of this name. */
export function dropTriggers(schema: string, name: string, condition = 'true'): string {
  return `
    do $do$
    declare
      part regclass;
      trigger name;
    begin
      for part, trigger in ${selectTriggers(schema, name, condition, 'tgrelid, tgname')} loop
        execute format('drop trigger %I on %s', trigger, part);
      end loop;
    end $do$;
  `;
}

function selectTriggers(schema: string, name: string, condition: string, columns = 'tgname'): string {
  return `select ${columns} from pg_trigger
    where tgfoid = to_regproc(${quoteLiteral(`${schema}.${name}`)}) and ${condition}`;
}

export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** What the service creates to see changes of the books; names without their schema. */
interface Definitions {
  /** The beginning of the names of the triggers on the books and on these tables. */
  readonly prefix: string;
  /** With sequences. */
  readonly tables: readonly string[];
  readonly indexes: readonly string[];
  readonly functions: readonly string[];
}

/**
 * A digest of the definitions that the database has, as an expression. A start compares it with the one that was stored when they
 * were created: it differs when something was altered, disabled, replaced or restored from a dump. It must be evaluated with
 * {@link FIXED_PATH}, on which the names in it depend.
 */
export function digestOfDefinitions(
  schema: string,
  { prefix, tables, indexes, functions }: Definitions,
): string {
  const ours = `array[${tables.map((table) => `to_regclass(${quoteLiteral(`${schema}.${table}`)})`).join(', ')}]::oid[]`;
  return `(select md5(string_agg(definition, ' ' order by definition)) from (
    select concat('table ', oid) as definition from unnest(array${tablesOfBooks(schema)} || ${ours}) as oid
    union all
    select concat('column ', attrelid, ' ', attname, ' ', format_type(atttypid, atttypmod), ' ', attnotnull, ' ', pg_get_expr(adbin, adrelid))
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = any (${ours}) and attnum > 0 and not attisdropped
    union all
    select pg_get_indexdef(oid) from pg_class
    where relnamespace = ${quoteLiteral(schema)}::regnamespace and relkind = 'i' and relname in ('${indexes.join("', '")}')
    union all
    select concat(pg_get_triggerdef(oid), ' ', tgenabled in ('O', 'A')) from pg_trigger
    where (tgrelid in ${tablesOfBooks(schema)} or tgrelid = any (${ours})) and starts_with(tgname, '${prefix}_')
    union all
    select pg_get_functiondef(oid) from pg_proc
    where pronamespace = ${quoteLiteral(schema)}::regnamespace and proname in ('${functions.join("', '")}')
  ) as definitions)`;
}

/** PostgreSQL prints names without their schema if the search_path has it. */
export const FIXED_PATH = 'set local search_path = pg_catalog, pg_temp';
