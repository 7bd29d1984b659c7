import { Invalid } from './invalid.ts';
import { DEPTH_MAX, parseJson } from './parse-json.ts';

interface FieldTypes {
  text: string;
  integer: number;
  boolean: boolean;
}

/** The names of fields, in lower case, and their types. */
type FieldSpec = Readonly<Record<string, keyof FieldTypes>>;

type JsonFields<Spec extends FieldSpec> = { -readonly [Name in keyof Spec]?: FieldTypes[Spec[Name]] };

/**
 * Reads a JSON object (RFC 8259). Names match in any ASCII case, the last of several equal names wins, and unknown fields are
 * ignored. `text` is a string that every store preserves: well-formed Unicode without U+0000. `integer` is a number without
 * a fraction, in any notation, within ±(2^53 - 1).
 *
 * @returns InvalidJson when the bytes are not a JSON object that {@link parseJson} takes, or a field has another type
 */
export function readJsonObject<const Spec extends FieldSpec>(
  bytes: Uint8Array,
  spec: Spec,
): JsonFields<Spec> | InvalidJson {
  const json = parseJson(bytes);
  if (typeof json === 'string') return new InvalidJson(json);
  const { text, value } = json;
  if (!isObject(value)) return new InvalidJson('not-object');

  const fields: Record<string, unknown> = {};
  let isExact = !FRACTION_OR_EXPONENT.test(text);
  for (const name in value) {
    const field = fieldNamed(name, spec);
    if (field === undefined) continue;
    if (Object.hasOwn(fields, field)) isExact = false;
    fields[field] = value[name];
  }
  if (!isExact) {
    for (const [name, literal] of membersAsWritten(text)) {
      const field = fieldNamed(name, spec);
      if (field !== undefined) fields[field] = parseExactly(literal);
    }
  }
  for (const field in fields) {
    const type = spec[field] as keyof FieldTypes;
    if (!hasType(fields[field], type))
      return new InvalidJson({ name: field, type, value: lastValueOf(field, value, spec) });
  }
  return fields as JsonFields<Spec>;
}

/** Reads an integer as {@link readJsonObject} reads a field. @returns a text if the bytes are one; undefined if they are anything else */
export function readJsonInteger(bytes: Uint8Array): number | string | undefined {
  const json = parseJson(bytes);
  if (typeof json === 'string') return undefined;
  if (typeof json.value === 'string') return json.value;
  if (typeof json.value !== 'number') return undefined;
  const value = FRACTION_OR_EXPONENT.test(json.text) ? parseExactly(json.text.trim()) : json.value;
  return hasType(value, 'integer') ? (value as number) : undefined;
}

/** Why {@link readJsonObject} rejects bytes: what they are not, or a field that has another type. */
export class InvalidJson extends Invalid {
  readonly reason: keyof typeof DETAILS | InvalidField;

  constructor(reason: keyof typeof DETAILS | InvalidField) {
    super(typeof reason === 'string' ? DETAILS[reason] : `${reason.name} ${TYPES[reason.type]}`);
    this.reason = reason;
  }
}

interface InvalidField {
  readonly name: string;
  readonly type: keyof FieldTypes;
  readonly value: unknown;
}

const DETAILS = {
  'too-deep': `nested deeper than ${DEPTH_MAX}`,
  'not-utf8': 'not UTF-8',
  'not-json': 'empty, compressed or not JSON',
  'not-object': 'not a JSON object',
};

const TYPES: Readonly<Record<keyof FieldTypes, string>> = {
  text: 'must be a string, without U+0000 and without lone surrogates',
  integer: `must be an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`,
  boolean: 'must be true or false',
};

/** `JSON.parse` loses the order of names that differ in case, and rounds (`1.00000000000000000001` becomes 1). */
const FRACTION_OR_EXPONENT = /[0-9][.eE]/;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldNamed(name: string, spec: FieldSpec): string | undefined {
  if (Object.hasOwn(spec, name)) return name;
  const field = toAsciiLowerCase(name);
  return Object.hasOwn(spec, field) ? field : undefined;
}

function lastValueOf(field: string, object: Record<string, unknown>, spec: FieldSpec): unknown {
  return Object.entries(object).findLast(([name]) => fieldNamed(name, spec) === field)?.[1];
}

function toAsciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function hasType(value: unknown, type: keyof FieldTypes): boolean {
  if (type === 'boolean') return typeof value === 'boolean';
  return type === 'text' ? isText(value) : Number.isSafeInteger(value);
}

/** Whether a value is a text that both engines store unchanged: well-formed Unicode without U+0000. */
export function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** The members of a JSON object in order, with repeated names and the text of each value. @param text a valid JSON object */
function* membersAsWritten(text: string): Generator<[name: string, literal: string]> {
  let name: string | undefined;
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfStringInText(text, at);
    else if (character === '{' || character === '[') {
      if (++depth === 1) start = at + 1;
    } else if (character === ':' && depth === 1) {
      name = JSON.parse(text.slice(start, at)) as string;
      start = at + 1;
    } else if (character === ',' || character === '}' || character === ']') {
      if (depth === 1 && name !== undefined) {
        yield [name, text.slice(start, at).trim()];
        name = undefined;
        start = at + 1;
      }
      if (character !== ',') depth--;
    }
  }
}

/** The index of the closing quote of the string that starts at `at`. */
function endOfStringInText(text: string, at: number): number {
  for (at++; text[at] !== '"'; at++) {
    if (text[at] === '\\') at++;
  }
  return at;
}

/** The value of a JSON text; NaN for a number that is not an integer. */
function parseExactly(literal: string): unknown {
  const number = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(literal);
  if (!number) return JSON.parse(literal);
  const [, whole = '', fraction = '', exponent = '0'] = number;
  const digits = whole + fraction;
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant--;
  // The value is digits * 10^(exponent - fraction.length).
  const isInteger = significant === 0 || significant <= whole.length + Number(exponent);
  return isInteger ? Number(literal) : Number.NaN;
}
