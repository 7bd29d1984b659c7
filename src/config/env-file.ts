import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Where generated values are kept, in the working directory. */
export const ENV_FILE = '.env';

/** Variables by name; what is empty counts as unset. */
export type Variables = Readonly<Record<string, string>>;

/**
 * The variables in the file; none when there is no file.
 *
 * @throws SyntaxError with the number of each line that is not an assignment
 * @throws Error when it cannot be read
 */
export function readEnvFile(): Variables {
  // parseEnv counts a byte-order mark as part of a name, and takes the next line as the value after `NAME= `.
  const text = readText()
    .replace(/^\uFEFF/, '')
    .replaceAll(/[^\S\n]+$/gm, '');
  requireAssignments(text);
  return withoutEmpty(parseEnv(text));
}

/** An assignment, whose value may span lines in quotes, a comment or nothing. */
const STATEMENT = /[ \t]*(?:(?:export +)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*|#.*)?(?:\n|$)/y;

/** parseEnv ignores what it cannot read, and the service would run with a default in its place. */
function requireAssignments(text: string): void {
  const faults: string[] = [];
  for (let index = 0; index < text.length; ) {
    STATEMENT.lastIndex = index;
    if (STATEMENT.test(text)) {
      index = STATEMENT.lastIndex;
    } else {
      const line = text.slice(0, index).split('\n').length;
      faults.push(`${ENV_FILE}, line ${line}: must be an assignment such as PORT=8080`);
      index = `${text}\n`.indexOf('\n', index) + 1;
    }
  }
  if (faults.length > 0) throw new SyntaxError(faults.join('; '));
}

/**
 * Generates what must be set and is not, and writes it to the file, which only its owner may read. Processes that do
 * this at once agree on one set of values.
 *
 * @param environment what wins over the file
 * @returns all variables, and the names of the ones that were generated
 * @throws SyntaxError with the number of each line that is not an assignment
 * @throws Error when the file cannot be written
 */
export function generateMissing(environment: Variables): { variables: Variables; generated: string[] } {
  const known = () => ({ ...readEnvFile(), ...environment });
  const before = known();
  if (!lacks(before)) return { variables: before, generated: [] };
  return withLock(() => {
    const variables = known();
    if (!lacks(variables)) return { variables, generated: [] };
    const values = {
      SECRET_TOKEN: randomBytes(48).toString('base64url'),
      AUTH_USERNAME: 'admin',
      AUTH_PASSWORD: randomBytes(18).toString('base64url'),
    };
    const missing = Object.entries(values).filter(([name]) => variables[name] === undefined);
    append(missing.map(([name, value]) => `${name}=${value}\n`));
    return { variables: { ...values, ...variables }, generated: missing.map(([name]) => name) };
  });
}

/** The username alone is no reason to write: it has a default. */
function lacks({ SECRET_TOKEN, AUTH_PASSWORD }: Variables): boolean {
  return SECRET_TOKEN === undefined || AUTH_PASSWORD === undefined;
}

/** The variables that are set to something. */
export function withoutEmpty(variables: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

/** Adds lines in one step: a reader sees the file as it was or as it is. */
function append(lines: string[]): void {
  const text = readText();
  const draft = `${ENV_FILE}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${text.trimEnd()}${text.trim() === '' ? '' : '\n'}${lines.join('')}`, {
    mode: 0o600,
  });
  renameSync(draft, ENV_FILE);
}

function readText(): string {
  try {
    return readFileSync(ENV_FILE, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

const LOCK = `${ENV_FILE}.lock`;

/** How long to wait for a process that holds the lock; it needs a few milliseconds. */
const LOCK_MS_MAX = 10_000;

/**
 * Runs the operation in one process at a time. The lock is one of SQLite's, as the system releases it when its process
 * ends; its empty file stays, as a process may already wait for the lock of the one that is removed.
 */
function withLock<Result>(operation: () => Result): Result {
  // SQLite's errors do not say why a file cannot be created.
  closeSync(openSync(LOCK, 'a', 0o600));
  // Only a start that generates something loads SQLite for this.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  using lock = new DatabaseSync(LOCK, { timeout: LOCK_MS_MAX });
  lock.exec('begin exclusive');
  return operation();
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
