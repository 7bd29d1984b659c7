import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Searches have as many statements as they have combinations of conditions. */
const STATEMENTS_MAX = 100;

const statementsOf = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** Prepares a statement once for each connection. */
export function prepareOnce(database: DatabaseSync, sql: string): StatementSync {
  let statements = statementsOf.get(database);
  if (!statements || statements.size >= STATEMENTS_MAX) statements = new Map();
  statementsOf.set(database, statements);
  const statement = statements.get(sql) ?? database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

/** Prepares the statements of a connection anew: one that failed during iteration would fail once more. */
export function forgetStatements(database: DatabaseSync): void {
  statementsOf.delete(database);
}
