import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Where generated values are kept, in the working directory. */
export const ENV_FILE = '.env';

/** Variables by name; what is empty counts as unset. */
export type Variables = Readonly<Record<string, string>>;

/** The variables in the file; none when there is no file. @throws Error when it cannot be read */
export function readEnvFile(): Variables {
  return withoutEmpty(parseEnv(readText()));
}

/**
 * Generates what must be set and is not, and writes it to the file, which only its owner may read. Processes that do
 * this at once agree on one set of values.
 *
 * @param environment what wins over the file
 * @returns all variables, and the names of the ones that were generated
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

/** A lock is held for an instant, so an older one was left behind by a process that was killed. */
const LOCK_MS_MAX = 2_000;

function withLock<Result>(operation: () => Result): Result {
  for (;;) {
    try {
      closeSync(openSync(LOCK, 'wx'));
      break;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const { mtimeMs } = statSync(LOCK, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > LOCK_MS_MAX) rmSync(LOCK, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  try {
    return operation();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
