import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** In the working directory; generated values are kept here. */
export const ENV_FILE = '.env';

export type Variables = Readonly<Record<string, string>>;

/** The non-empty variables in the file, if there is one. @throws SyntaxError with the line of each malformed assignment */
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
  const errors: string[] = [];
  for (let index = 0; index < text.length; ) {
    STATEMENT.lastIndex = index;
    if (STATEMENT.test(text)) {
      index = STATEMENT.lastIndex;
    } else {
      const line = text.slice(0, index).split('\n').length;
      errors.push(`${ENV_FILE}, line ${line}: must be an assignment such as PORT=8080`);
      index = `${text}\n`.indexOf('\n', index) + 1;
    }
  }
  if (errors.length > 0) throw new SyntaxError(errors.join('; '));
}

/** Generates missing secrets in the file, once for concurrent processes. @throws Error when it cannot be read or written */
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

/** The username has a default. */
function lacksSecret({ SECRET_TOKEN, AUTH_PASSWORD }: Variables): boolean {
  return SECRET_TOKEN === undefined || AUTH_PASSWORD === undefined;
}

export function withoutEmpty(variables: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
  );
}

function append(lines: string[]): void {
  const text = readText().trimEnd();
  const temporaryFile = `${ENV_FILE}.${randomBytes(4).toString('hex')}.draft`;
  writeFileSync(temporaryFile, `${text && `${text}\n`}${lines.join('')}`, { mode: 0o600, flag: 'wx' });
  renameSync(temporaryFile, ENV_FILE);
}

function readText(): string {
  return statSync(ENV_FILE, { throwIfNoEntry: false }) ? readFileSync(ENV_FILE, 'utf8') : '';
}

const LOCK = `${ENV_FILE}.lock`;
const LOCK_MS_MAX = 10_000;

/** The lock is SQLite's, which the system releases when the process exits. Its file stays: others may be waiting for it. */
function withLock<Result>(operation: () => Result): Result {
  // Unlike SQLite's, this error has a code.
  closeSync(openSync(LOCK, 'a', 0o600));
  // Not an import: most starts do not need SQLite here.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  using lock = new DatabaseSync(LOCK, { timeout: LOCK_MS_MAX });
  lock.exec('begin exclusive');
  return operation();
}
