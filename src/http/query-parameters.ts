import { Rejection } from './rejection.ts';

/** A parameter of a query, as JSON Schema. Requests are validated by it. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
}

/**
 * Reads the known parameters of a request target, as `application/x-www-form-urlencoded`.
 *
 * @returns a Rejection when one has an invalid value or is repeated
 */
export function readParameters<Known extends string>(
  target: string,
  parameters: Readonly<Record<Known, ParameterSchema>>,
): Map<Known, string> | Rejection {
  const given = new Map<Known, string>();
  for (const piece of piecesOf(target)) {
    const name = parameterName(piece) as Known;
    if (!Object.hasOwn(parameters, name)) continue;
    if (given.has(name)) return invalidQuery(`${name} is repeated`);
    const text = decodeFormText(/=(.*)/s.exec(piece)?.[1] ?? '');
    if (text === undefined || !isValid(parameters[name], text))
      return invalidQuery(`${name} must be ${expectation(parameters[name])}`);
    given.set(name, text);
  }
  return given;
}

/** 400 for a query. @param detail the `Error-Detail`, in ASCII */
export function invalidQuery(detail: string): Rejection {
  return new Rejection('invalidQuery', { detail });
}

/** The query of the next page: the same with the cursor as its start, escaped for a header. */
export function queryAfter(target: string, cursor: string): string {
  const others = piecesOf(target)
    .filter((piece) => !STARTS.some((name) => name === parameterName(piece)))
    .map((piece) => piece.replace(NOT_IN_QUERY, encodeURIComponent));
  return [...others, `after=${cursor}`].join('&');
}

/** The header with the path of the next page (RFC 8288). @param target of the request for this page */
export function linkToNext(path: string, target: string, cursor: string): { readonly link: string } {
  return { link: `<${path}?${queryAfter(target, cursor)}>; rel="next"` };
}

/** The parameters that say where a page begins. */
export const STARTS = ['after', 'offset', 'from'] as const;

/** Characters that are invalid in a query (RFC 3986, section 3.4), or would end a link or a header. */
const NOT_IN_QUERY = /[^\w.~!$'()*+,;:@/?=%-]/g;

/** The pieces of a query between its ampersands, with bytes outside ASCII escaped. */
function piecesOf(target: string): string[] {
  const query = /\?(.*)/s.exec(target)?.[1] ?? '';
  return query
    .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    .split('&')
    .filter((piece) => piece !== '');
}

function parameterName(piece: string): string {
  return decodeFormText(piece.split('=', 1)[0] ?? '') ?? '';
}

/** @returns undefined when the text is not escaped UTF-8 */
function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Also rejects U+0000, which no engine accepts. */
function isValid(schema: ParameterSchema, text: string): boolean {
  const { type, minimum = -Infinity, maximum = Infinity, minLength = 0 } = schema;
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'integer')
    return /^-?[0-9]+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  return schema.enum ? schema.enum.includes(text) : text.length >= minLength && !text.includes('\0');
}

/** What {@link isValid} accepts. */
export function expectation(schema: ParameterSchema): string {
  const { type, minimum, maximum, minLength = 0 } = schema;
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  return `${minLength > 0 ? 'non-empty ' : ''}text in percent-encoded UTF-8, without U+0000`;
}
