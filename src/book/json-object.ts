/** The types a field of a request body can have. */
interface FieldTypes {
  text: string;
  integer: number;
}

/** Names of fields, in lower case, with their types. */
type FieldSpec = Readonly<Record<string, keyof FieldTypes>>;

/** The fields that were present, by name. */
export type JsonFields<Spec extends FieldSpec> = { -readonly [Name in keyof Spec]?: FieldTypes[Spec[Name]] };

/**
 * Reads bytes as a JSON object (RFC 8259) with known fields.
 *
 * A field's name counts in any ASCII case; of a field given several times the last one counts; unknown fields are
 * ignored. `text` is a string that every store can give back unchanged: well-formed Unicode without U+0000.
 * `integer` is a number without fraction, however it is written, within ±(2^53 - 1).
 *
 * @returns the fields present, or undefined when the bytes are not UTF-8, not one JSON object, or a known field has
 *   a value of another type.
 */
export function readJsonObject<const Spec extends FieldSpec>(
  bytes: Uint8Array,
  spec: Spec,
): JsonFields<Spec> | undefined {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;

  const fields: Record<string, unknown> = {};
  let isFaithful = !NUMBER_IN_PARTS.test(text);
  for (const name in value) {
    const field = fieldOf(name, spec);
    if (field === undefined) continue;
    if (Object.hasOwn(fields, field)) isFaithful = false;
    fields[field] = value[name];
  }
  if (!isFaithful) {
    for (const [name, literal] of membersAsWritten(text)) {
      const field = fieldOf(name, spec);
      if (field !== undefined) fields[field] = parseFaithfully(literal);
    }
  }
  for (const field in fields) {
    if (!hasType(fields[field], spec[field] as keyof FieldTypes)) return undefined;
  }
  return fields as JsonFields<Spec>;
}

/** Refuses what is not UTF-8, and leaves a byte-order mark in place, where it is not JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * `JSON.parse` loses two things that count here: which of two spellings of a name came last, and what it rounds
 * away (`1.00000000000000000001` becomes 1). Both are rare enough to read such a text a second time.
 */
const NUMBER_IN_PARTS = /[0-9][.eE]/;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(name: string, spec: FieldSpec): string | undefined {
  if (Object.hasOwn(spec, name)) return name;
  const field = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return Object.hasOwn(spec, field) ? field : undefined;
}

function hasType(value: unknown, type: keyof FieldTypes): boolean {
  return type === 'text'
    ? typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
    : Number.isSafeInteger(value);
}

/**
 * The members of a JSON object in the order they are written, repeated names included, each with the text of its
 * value.
 *
 * @param text a valid JSON text whose value is an object
 */
function* membersAsWritten(text: string): Generator<[name: string, literal: string]> {
  let name: string | undefined;
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        if (++depth === 1) start = at + 1;
        break;
      case ':':
        if (depth > 1) break;
        name = JSON.parse(text.slice(start, at)) as string;
        start = at + 1;
        break;
      case ',':
      case '}':
      case ']':
        if (depth === 1 && name !== undefined) {
          yield [name, text.slice(start, at).trim()];
          name = undefined;
          start = at + 1;
        }
        if (text[at] !== ',') depth--;
        break;
      default:
    }
  }
}

/** Where the string that opens at `at` closes. */
function endOfString(text: string, at: number): number {
  for (at++; text[at] !== '"'; at++) {
    if (text[at] === '\\') at++;
  }
  return at;
}

/** The value of a JSON text; a number that is not whole is NaN. */
function parseFaithfully(literal: string): unknown {
  const number = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(literal);
  if (!number) return JSON.parse(literal);
  const [, whole = '', fraction = '', exponent = '0'] = number;
  const digits = whole + fraction;
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant--;
  // The value is digits * 10^(exponent - fraction.length): whole when no significant digit is behind the point.
  const isInteger = significant === 0 || significant <= whole.length + Number(exponent);
  return isInteger ? Number(literal) : Number.NaN;
}
