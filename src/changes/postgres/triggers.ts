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

/** A text as a literal of SQL, where a statement takes no parameters. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Whether all tables of books have all of the triggers, enabled, and no other table has one, as an expression. After a partition was
 * added or a dump restored, some are missing; a partition that was detached still has its own.
 */
export function hasTriggers(prefix: string, schema: string, name: string): string {
  return `not exists (
    ${selectTriggers(schema, name, `tgrelid not in ${tablesOfBooks(schema)}`)}
  ) and not exists (
    select from ${tablesOfBooks(schema)} as parts cross join unnest(array['${Object.keys(TRIGGERS).join("', '")}']) as event
    where not exists (
      select from pg_trigger where tgrelid = parts.oid and tgname = '${prefix}_' || event
        and tgfoid = to_regproc(${quoteLiteral(`${schema}.${name}`)}) and tgenabled in ('O', 'A')
    )
  )`;
}

/** PostgreSQL prints names without their schema if the search_path has it. */
export const FIXED_PATH = 'set local search_path = pg_catalog, pg_temp';
