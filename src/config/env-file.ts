import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { VARIABLES } from './variables.ts';

/** In the working directory; generated values are kept here. */
export const ENV_FILE = '.env';

export type Variables = Readonly<Record<string, string>>;

/** The non-empty variables in the file, if there is one. @throws SyntaxError with the number of each unclear line, and no value */
export function readEnvFile(): Variables {
  return withoutEmpty(parseEnvFile(readBytes()));
}

/**
 * Reads assignments and comments. `parseEnv` of Node cuts a value at each `#` and ignores malformed lines. A line ends the start if
 * it may mean another value to most programs that read such files, as docs/configuration.md lists; the values of other programs are
 * theirs. Of the same name, the last line counts, as there.
 *
 * @throws SyntaxError
 */
export function parseEnvFile(bytes: Buffer): Variables {
  const variables: Record<string, string> = {};
  const errors: string[] = [];
  // In Latin-1, each byte is a character: the lines can be decoded one by one.
  const lines = bytes.toString('latin1').replace(UTF8_MARK, '').split('\n');
  for (const [index, line] of lines.entries()) {
    const read = parseLine(Buffer.from(line.replace(/\r$/, ''), 'latin1'));
    if (typeof read === 'string') errors.push(`${ENV_FILE}, line ${index + 1}: ${read}`);
    else if (read) variables[read.name] = read.value;
    if (read === NOT_UTF8) break;
  }
  if (errors.length > 0) throw new SyntaxError(errors.join('; '));
  return variables;
}

/** The bytes of U+FEFF. */
const UTF8_MARK = /^\xef\xbb\xbf/;

const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=([ \t]*)(.*)$/s;
const COMMENT = /^[ \t]*(?:#.*)?$/s;
/** In single quotes everything is literal, but Compose takes a backslash before the end as part of the value. */
const SINGLE_QUOTED = /^'([^']*)(?<!\\)'(?:[ \t]+#.*|[ \t]*)$/s;
const DOUBLE_QUOTED = /^"([^"]*)"(?:[ \t]+#.*|[ \t]*)$/s;
/**
 * What Compose and godotenv replace by the value of a variable, or Compose by `$`. Of programs that read such files, only Compose, with
 * a warning, and shells take lower case for a variable; in a password it is more often a `$`.
 */
const INTERPOLATION = /\$[A-Z_{$]/;
const NOT_UTF8 = 'is not UTF-8';

/** @returns undefined for a comment or an empty line; what is wrong with an unclear one */
function parseLine(bytes: Buffer): { readonly name: string; readonly value: string } | string | undefined {
  if (!isUtf8(bytes)) return NOT_UTF8;
  const line = bytes.toString();
  if (/(?!\t)\p{Cc}/u.test(line)) return 'has a control character';
  if (COMMENT.test(line)) return undefined;
  // systemd continues the line.
  if (line.endsWith('\\')) return 'ends with a backslash';
  const [, name, blanks, text = ''] = ASSIGNMENT.exec(line) ?? [];
  if (name === undefined) return 'must be an assignment such as PORT=8080';
  const [, literal] = SINGLE_QUOTED.exec(text) ?? [];
  if (literal !== undefined) return { name, value: literal };
  const [, quoted] = DOUBLE_QUOTED.exec(text) ?? [];
  if (quoted === undefined && /^['"`]/.test(text)) return 'single or double quotes must enclose the value';
  const value = quoted ?? text.replace(/[ \t]+#.*$/s, '').replace(/[ \t]+$/, '');
  const unclear = unclearIn(value, quoted !== undefined, blanks !== '' && text.startsWith('#'));
  if (unclear === undefined) return { name, value };
  return isOurs(name) ? unclear : undefined;
}

/** Why a value may mean another one to other programs. */
function unclearIn(value: string, isQuoted: boolean, isComment: boolean): string | undefined {
  if (isComment) return 'the value must have quotes, or the comment a line of its own';
  if (isQuoted && value.includes('\\'))
    return 'a value with a backslash must be in single quotes, or without quotes';
  if (INTERPOLATION.test(value)) return 'a value with $ before a capital, _, { or $ must be in single quotes';
  if (!isQuoted && value !== value.trim()) return 'a value with a special blank at an end must be in quotes';
  return undefined;
}

/** Whether the service or a command reads the variable. A file may have others, for other programs, with their forms of a value. */
function isOurs(name: string): boolean {
  return Object.hasOwn(VARIABLES, name) || /^(NODE_ENV|WORKERS|BOOKKEEPING_\w+)$/.test(name);
}

/** Generates missing secrets in the file, once for concurrent processes. @throws Error when it cannot be read or written */
export function generateMissing(environment: Variables): { variables: Variables; generated: string[] } {
  const known = () => ({ ...readEnvFile(), ...environment });
  const before = known();
  if (hasAll(before, SECRET_NAMES)) return { variables: before, generated: [] };
  return withLock(() => {
    const variables = known();
    if (hasAll(variables, SECRET_NAMES)) return { variables, generated: [] };
    const values = {
      SECRET_TOKEN: randomBytes(48).toString('base64url'),
      AUTH_USERNAME: 'admin',
      AUTH_PASSWORD: randomBytes(18).toString('base64url'),
    };
    const missing = Object.entries(values).filter(([name]) => variables[name] === undefined);
    append(missing.map(([name, value]) => `${name}=${value}`));
    return { variables: { ...values, ...variables }, generated: missing.map(([name]) => name) };
  });
}

/** Without them, the service does not start; the username has a default. */
export const SECRET_NAMES = ['SECRET_TOKEN', 'AUTH_PASSWORD'] as const;

export function hasAll(variables: Variables, names: readonly string[]): boolean {
  return names.every((name) => variables[name] !== undefined);
}

/** The variables that have a value: an empty one counts as absent. */
export function withoutEmpty(variables: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
  );
}

/** Appends lines, with the line endings of the file. A pipe and /dev/null remain what they are. */
function append(lines: readonly string[]): void {
  if (hasFile() && !statSync(ENV_FILE).isFile())
    throw Object.assign(new Error('not a regular file'), { code: 'it is not a regular file' });
  const text = readBytes().toString();
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const separator = text === '' || text.endsWith('\n') ? '' : newline;
  // The file may be a link, which stays.
  const file = hasFile() ? realpathSync(ENV_FILE) : ENV_FILE;
  const temporaryFile = `${file}.${randomBytes(4).toString('hex')}.draft`;
  const content = `${text}${separator}${lines.map((line) => `${line}${newline}`).join('')}`;
  writeFileSync(temporaryFile, content, { mode: 0o600, flag: 'wx' });
  renameSync(temporaryFile, file);
}

function readBytes(): Buffer {
  return hasFile() ? readFileSync(ENV_FILE) : Buffer.of();
}

/** Also when it cannot be read. @throws Error when that cannot be determined */
function hasFile(): boolean {
  return statSync(ENV_FILE, { throwIfNoEntry: false }) !== undefined;
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
