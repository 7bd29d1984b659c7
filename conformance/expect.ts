import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './client.ts';

/** A book as the contract answers it. */
export interface Book {
  readonly id: number;
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

/** Something else came than a rule wants. The texts are raw: who prints them hides what is confidential. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;

  constructor(subject: string, expected: string, actual: string) {
    super(`${subject}: something else came than expected`);
    this.subject = subject;
    this.expected = expected;
    this.actual = actual;
  }
}

/** Holds when both are the same JSON value. */
export function expectSame(subject: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Mismatch(subject, inJson(expected), inJson(actual));
}

/**
 * Passes when the response is exactly the envelope: exactly the keys `status`, `message` and `data`, the
 * status equal to that of HTTP.
 *
 * @returns its `data`
 */
export function expectOutcome(answer: Answer, status: number, message: string): unknown {
  const data = dataIn(answer, status, message);
  if (data === undefined)
    throw new Mismatch(answer.request, asText(status, message, '…'), describeResponse(answer));
  return data;
}

/** Passes when the response is the envelope with `data` null. */
export function expectNull(answer: Answer, status: number, message: string): void {
  if (dataIn(answer, status, message) !== null) {
    throw new Mismatch(answer.request, asText(status, message, 'null'), describeResponse(answer));
  }
}

/** Passes when the response carries one book, with the given fields where any are given. @returns the book */
export function expectBook(
  answer: Answer,
  status: number,
  message: string,
  fields: Partial<Book> = {},
): Book {
  const data = expectOutcome(answer, status, message);
  if (!isBook(data)) throw new Mismatch(answer.request, 'a book as data', describeResponse(answer));
  expectSame(answer.request, data, { ...data, ...fields });
  return data;
}

/** Passes when the response is the list of books. @returns the books */
export function expectBooks(answer: Answer): readonly Book[] {
  const data = expectOutcome(answer, 200, 'Books retrieved successfully');
  if (!Array.isArray(data)) throw new Mismatch(answer.request, 'an array as data', describeResponse(answer));
  const other: unknown = data.find((book) => !isBook(book));
  if (other !== undefined) throw new Mismatch(answer.request, 'books only', inJson(other));
  return data as Book[];
}

/** Passes when the response has the header with this value, or one that matches. */
export function expectHeader(answer: Answer, name: string, expected: string | RegExp): void {
  const value = answer.headers.get(name);
  const holds = typeof expected === 'string' ? value === expected : expected.test(value ?? '');
  if (!holds)
    throw new Mismatch(`${answer.request} (${answer.status})`, `${name}: ${expected}`, value ?? 'none');
}

/** A JSON object as a value, or undefined when the text is none. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Exactly the four fields, each of its type. */
function isBook(value: unknown): value is Book {
  if (typeof value !== 'object' || value === null) return false;
  const { id, title, author, year, ...others } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(id) &&
    (id as number) >= 0 &&
    typeof title === 'string' &&
    typeof author === 'string' &&
    Number.isSafeInteger(year) &&
    Object.keys(others).length === 0
  );
}

/** The `data` of the envelope, or undefined when the answer is not this outcome. */
function dataIn(answer: Answer, status: number, message: string): unknown {
  const type = answer.headers.get('content-type') ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Mismatch(
      answer.request,
      'Content-Type application/json',
      `${type}: ${describeResponse(answer)}`,
    );
  }
  const envelope = parseObject(answer.body);
  const data = envelope?.data;
  return answer.status === status && isDeepStrictEqual(envelope, { status, message, data })
    ? data
    : undefined;
}

function asText(status: number, message: string, data: string): string {
  return `${status} {"status":${status},"message":"${message}","data":${data}}`;
}

function describeResponse(answer: Answer): string {
  return `${answer.status} ${answer.body || '(no content)'}`;
}

function inJson(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
