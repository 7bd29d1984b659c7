import { DatabaseError } from 'pg';

/** What SQLSTATEs mean (PostgreSQL documentation, appendix A), of which two characters are a class. Some mean several things. */
const MEANINGS = {
  /** The server, the connection or other transactions are the cause, or a right or a table is missing. */
  unavailable: /^(08|25|28|3D|40|53|54|55|57|58|F0|XX|42501|42P01)/,
  'connection broken': /^(08|57P)/,
  'user or mode of TLS rejected': /^28000$/,
  'read-only': /^25006$/,
  /** It failed, without effect, because of concurrent transactions, and may be retried. */
  'serialization failure': /^(40001|40P01)$/,
  deadlock: /^40P01$/,
  'lock not available in time': /^55P03$/,
  /** Another process applies the same migration. */
  'concurrent migration': /^(23505|42P07|42710|40001|40P01|XX000)$/,
  'not unique': /^23505$/,
  /** See `failUnless` in batches/all-or-none.ts. */
  'division by zero': /^22012$/,
  /** A pooler does not have the prepared statement, or has another one of its name; or it is an outdated plan. */
  'prepared statement rejected': /^(26000|42P05|0A000)$/,
  /** The table was altered; a statement of another name is not outdated. */
  'outdated plan': /^0A000$/,
  /** This user lacks a privilege, or the server a feature, or a table is missing. */
  unsupported: /^(0A|42|22023)/,
  /** PostgreSQL names the right that is missing, or says that there is no schema. */
  'no right or schema': /^(42501|3F000)$/,
  /** Data exceptions, violated constraints, errors in PL/pgSQL. */
  'row rejected': /^(22|23|44|P0)/,
  'text too long for an index, or statement too complex': /^54000/,
  /** What a function needs is not there, or not allowed, or it calls itself without an end. */
  'defect of a function': /^(09|0A|0Z|21|2F|38|39|42|54001)/,
} as const;

/** Whether the SQLSTATE of an error has this meaning; never for an error of the connection. */
export function means(error: unknown, meaning: keyof typeof MEANINGS): boolean {
  return MEANINGS[meaning].test(sqlState(error) ?? '');
}

/** The SQLSTATE of an error of the server; undefined for one of the driver, the connection or the code. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** The name of the constraint that an error of the server is of. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined;
}
