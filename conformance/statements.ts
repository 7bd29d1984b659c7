import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

/** Features that some engines with PostgreSQL's protocol lack, and transactions of several statements. */
const NOT_SHARED =
  /\b(serial|advisory|trigger|temp|temporary|truncate|lock table|begin|commit|savepoint|copy|listen|notify|vacuum|language|extension|on conflict)\b|\bselect \*/i;

/** Asserts that the statements sent to PostgreSQL are those of `statements.sql`, and use no such feature. */
export async function assertListed(sent: ReadonlySet<string>): Promise<void> {
  const listed = await readList();
  assert.deepEqual(
    [...sent].filter((statement) => !listed.has(statement)),
    [],
    'sent, but not in statements.sql: check whether distributed engines support it, and list it',
  );
  assert.deepEqual(
    [...listed].filter((statement) => !sent.has(statement)),
    [],
    'in statements.sql, but not sent',
  );
  for (const statement of listed) assert.doesNotMatch(statement, NOT_SHARED);
}

/** Records every statement that this process sends to PostgreSQL from now on, each once. */
export function recordStatements(): Set<string> {
  const sent = new Set<string>();
  const { query } = Client.prototype as { query: (this: Client, ...values: unknown[]) => unknown };
  Object.assign(Client.prototype, {
    query(this: Client, ...values: unknown[]) {
      const [first] = values as [string | { readonly text: string }];
      for (const statement of statementsIn(typeof first === 'string' ? first : first.text))
        sent.add(statement);
      return query.apply(this, values);
    },
  });
  return sent;
}

/** The statements of `statements.sql`. */
async function readList(): Promise<ReadonlySet<string>> {
  const text = await readFile(join(import.meta.dirname, 'statements.sql'), 'utf8');
  return new Set(statementsIn(text.replace(/^--.*$/gm, '')));
}

/** The statements of a text, which end with a semicolon at the end of a line. */
function statementsIn(text: string): string[] {
  const statements = text.split(/;\s*$/m).map(normalised);
  return statements.filter((statement) => statement !== '');
}

function normalised(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/ \)/g, ')').trim();
}
