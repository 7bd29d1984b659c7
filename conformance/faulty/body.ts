import type { IncomingMessage } from 'node:http';
import type { Planted } from './violations.ts';

const TYPES = {
  title: 'string',
  author: 'string',
  year: 'number',
  username: 'string',
  password: 'string',
  scope: 'string',
} as const;

/** The name of a known field. */
export type Field = keyof typeof TYPES;

const BODY_BYTES_MAX = 1024 * 1024;
const LOGIN_BYTES_MAX = 16 * 1024;
const DEPTH_MAX = 64;

/** Receives a body; one that is too large is received to its end and dropped: undefined. */
export async function receive(request: IncomingMessage, has: Planted): Promise<Buffer | undefined> {
  const isLogin = request.url === '/token' && !has('logins are as long as other bodies');
  const limit = has('bodies have no limit') ? Infinity : isLogin ? LOGIN_BYTES_MAX : BODY_BYTES_MAX;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > limit && has('413 breaks the connection')) return undefined;
    if (size <= limit) pieces.push(piece);
  }
  if (
    size > limit ||
    (size === limit && has(isLogin ? 'a login of 16 KiB is too large' : 'a body of 1 MiB is too large'))
  )
    return undefined;
  if (has('the last piece of a body is lost') && pieces.length > 1) pieces.pop();
  if (has('pieces are decoded separately')) return Buffer.from(pieces.map(String).join(''));
  return Buffer.concat(pieces);
}

/** Reads bytes as a JSON object with the given fields. @returns those present, or undefined when unreadable */
export function readFields<Name extends Field>(
  bytes: Uint8Array,
  names: readonly Name[],
  has: Planted,
): { [Key in Name]?: string | number } | undefined {
  const text = decode(bytes, has);
  if (text === undefined || !isObject(text) || isTooDeep(text, has)) return undefined;
  const fields: { [Key in Name]?: string | number } = {};
  const unreadable = new Set<Name>();
  for (const [written, literal] of membersOf(text, has)) {
    const folded = has('field names count in lower case only')
      ? written
      : written.replace(/[A-Z]/g, toLowerCase);
    const name = names.find((known) => known === folded);
    if (name === undefined) {
      if (has('unknown fields are rejected')) return undefined;
      continue;
    }
    if (has('the first of two fields counts') && name in fields) continue;
    if (has('null counts as absent') && literal === 'null') continue;
    const value = readValue(literal, TYPES[name], has);
    if (value === undefined) {
      unreadable.add(name);
    } else {
      unreadable.delete(name);
      fields[name] = value;
    }
  }
  return unreadable.size === 0 ? fields : undefined;
}

function decode(bytes: Uint8Array, has: Planted): string | undefined {
  const fatal = !has('bytes that are not UTF-8 are replaced');
  const ignoreBOM = !has('a byte-order mark is skipped');
  try {
    const text = new TextDecoder('utf-8', { fatal, ignoreBOM }).decode(bytes);
    if (has('text after the JSON value is ignored')) return text.replace(/\}[^}]*$/, '}');
    if (has('a trailing comma is accepted')) return text.replace(/,\s*\}/, '}');
    return has('null is an empty object') ? text.replace(/^null$/, '{}') : text;
  } catch {
    return undefined;
  }
}

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
    return /^\s*\{/.test(text);
  } catch {
    return false;
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/gs;

function isTooDeep(text: string, has: Planted): boolean {
  if (has('bodies are nested to any depth')) return false;
  const max = has('64 levels of nesting are too many') ? DEPTH_MAX - 1 : DEPTH_MAX;
  const counted = has('brackets in strings count as nesting')
    ? text
    : text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '');
  let depth = 0;
  return Array.from(counted).some((character) => {
    if ('[{'.includes(character)) depth++;
    else if (']}'.includes(character)) depth--;
    return depth > max;
  });
}

/** The members of a JSON object, duplicates included, with their literals. */
function* membersOf(text: string, has: Planted): Generator<[name: string, literal: string]> {
  let depth = 0;
  let name = '';
  let literal = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '}' || token === ']') depth--;
    const isEnd = (depth === 0 && token === '}') || (depth === 1 && token === ',');
    if (isEnd && name !== '') yield [readName(name, has), literal];
    if (isEnd) {
      [name, literal] = ['', ''];
    } else if (depth === 1 && name === '') {
      name = token;
    } else if (depth >= 1 && !(depth === 1 && token === ':')) {
      literal += token;
    }
    if (token === '{' || token === '[') depth++;
  }
}

function readName(literal: string, has: Planted): string {
  return has('escapes in field names are not decoded')
    ? literal.slice(1, -1)
    : (JSON.parse(literal) as string);
}

function readValue(literal: string, type: 'string' | 'number', has: Planted): string | number | undefined {
  const value: unknown = JSON.parse(literal);
  if (type === 'number') return readInteger(value, literal, has);
  if (typeof value !== 'string') return undefined;
  const isKept = value.isWellFormed() && !value.includes('\0');
  if (!isKept && !has('U+0000 and lone surrogates are kept')) return undefined;
  if (Array.from(value).length > 4_096 && !has('texts have any length')) return undefined;
  return has('text is trimmed') ? value.trim() : value;
}

function readInteger(value: unknown, literal: string, has: Planted): number | undefined {
  if (has('year may be a string') && typeof value === 'string') return Number.parseInt(value, 10) || 0;
  if (typeof value !== 'number') return undefined;
  if (has('1999.0 is no integer') && !/^-?[0-9]+$/.test(literal)) return undefined;
  if (has('years have 32 bits') && value !== Math.trunc(value | 0)) return undefined;
  if (has('fractions of a year are truncated'))
    return readInteger(Math.trunc(value), String(Math.trunc(value)), never);
  if (has('fractions of a year are lost in reading')) return Number.isSafeInteger(value) ? value : undefined;
  if (has('years beyond 2^53 are rounded') && isWhole(literal)) return value;
  return isWhole(literal) && Number.isSafeInteger(value) ? value : undefined;
}

const never: Planted = () => false;

/** Whether a JSON number has no fraction, with any number of digits. */
function isWhole(literal: string): boolean {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/0+$/, '');
  return digits === '' || digits.length <= whole.length + Number(exponent);
}

function toLowerCase(letter: string): string {
  return letter.toLowerCase();
}
