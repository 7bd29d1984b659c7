import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

/** Features that not all engines with PostgreSQL's protocol have, and transactions of several statements. */
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
      sent.add(normalised(typeof first === 'string' ? first : first.text));
      return query.apply(this, values);
    },
  });
  return sent;
}

/** The statements of `statements.sql`, each ended by a semicolon. */
async function readList(): Promise<ReadonlySet<string>> {
  const text = await readFile(join(import.meta.dirname, 'statements.sql'), 'utf8');
  const statements = text
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map(normalised);
  return new Set(statements.filter((statement) => statement !== ''));
}

function normalised(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/ \)/g, ')').trim();
}
