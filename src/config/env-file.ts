import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** In the working directory; generated values are kept here. */
export const ENV_FILE = '.env';

/** Non-empty variables by name. */
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

/** An assignment, whose quoted value may span lines; or a comment or an empty line. */
const STATEMENT = /[ \t]*(?:(?:export +)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*|#.*)?(?:\n|$)/y;

/** parseEnv ignores malformed lines, and the service would run with defaults. */
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
 * Generates missing secrets and writes them to the file, which only its owner may read. Concurrent processes get the same
 * values.
 *
 * @param environment takes precedence over the file
 * @returns all variables, and the names of the generated ones
 * @throws SyntaxError with the number of each line that is not an assignment
 * @throws Error when the file cannot be written
 */
export function generateMissing(environment: Variables): { variables: Variables; generated: string[] } {
  const known = () => ({ ...readEnvFile(), ...environment });
  const before = known();
  if (!lacksSecret(before)) return { variables: before, generated: [] };
  return withLock(() => {
    const variables = known();
    if (!lacksSecret(variables)) return { variables, generated: [] };
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

/** A missing username alone is not generated: it has a default. */
function lacksSecret({ SECRET_TOKEN, AUTH_PASSWORD }: Variables): boolean {
  return SECRET_TOKEN === undefined || AUTH_PASSWORD === undefined;
}

/** The non-empty variables. */
export function withoutEmpty(variables: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
    ),
  );
}

/** Appends lines atomically. */
function append(lines: string[]): void {
  const text = readText();
  const temporaryFile = `${ENV_FILE}.draft`;
  rmSync(temporaryFile, { force: true });
  writeFileSync(temporaryFile, `${text.trimEnd()}${text.trim() === '' ? '' : '\n'}${lines.join('')}`, {
    mode: 0o600,
  });
  renameSync(temporaryFile, ENV_FILE);
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

/** How long to wait for the lock, which is held for a few milliseconds. */
const LOCK_MS_MAX = 10_000;

/**
 * Runs the operation in one process at a time. SQLite holds the lock, which the system releases when the process exits. The
 * empty lock file stays: another process may be waiting for it.
 */
function withLock<Result>(operation: () => Result): Result {
  // SQLite's error would not have the reason.
  closeSync(openSync(LOCK, 'a', 0o600));
  // SQLite is loaded only when something is generated.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  using lock = new DatabaseSync(LOCK, { timeout: LOCK_MS_MAX });
  lock.exec('begin exclusive');
  return operation();
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
