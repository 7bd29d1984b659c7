import { isDeepStrictEqual } from 'node:util';
import type { HttpResponse } from './client.ts';

/** A book in a response. */
export interface Book {
  readonly id: number;
  readonly title: string;
  readonly author: string;
  readonly year: number;
}

/** A response differs from the expected one. The texts are unredacted. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;

  constructor(subject: string, expected: string, actual: string) {
    super(`${subject}: expected ${expected}, got ${actual}`);
    this.subject = subject;
    this.expected = expected;
    this.actual = actual;
  }
}

/** Passes when both are the same JSON value. */
export function expectSame(subject: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Mismatch(subject, inJson(expected), inJson(actual));
}

/**
 * Passes when the response is exactly the envelope: exactly the keys `status`, `message` and `data`, the
 * status equal to that of HTTP.
 *
 * @returns its `data`
 */
export function expectOutcome(response: HttpResponse, status: number, message: string): unknown {
  const data = dataIn(response, status, message);
  if (data === undefined)
    throw new Mismatch(response.request, asText(status, message, '…'), describeResponse(response));
  return data;
}

/** Passes when the response is the envelope with `data` null. */
export function expectNull(response: HttpResponse, status: number, message: string): void {
  if (dataIn(response, status, message) !== null) {
    throw new Mismatch(response.request, asText(status, message, 'null'), describeResponse(response));
  }
}

/** Passes when the response is 201 with a book that has these fields. @returns the book */
export function expectCreated(response: HttpResponse, fields?: Partial<Book>): Book {
  return expectBook(response, 201, 'Book created successfully', fields);
}

/** Passes when the response to a GET is 200 with a book that has these fields. @returns the book */
export function expectRetrieved(response: HttpResponse, fields?: Partial<Book>): Book {
  return expectBook(response, 200, 'Book retrieved successfully', fields);
}

/** Passes when the response to a PUT is 200 with a book that has these fields. @returns the book */
export function expectUpdated(response: HttpResponse, fields?: Partial<Book>): Book {
  return expectBook(response, 200, 'Book updated successfully', fields);
}

/** Passes when GET returns the book with this id, and it has these fields. */
export async function expectStored(
  service: { get(path: string): Promise<HttpResponse> },
  book: Pick<Book, 'id'> & Partial<Book>,
): Promise<void> {
  expectRetrieved(await service.get(`/book/${book.id}`), book);
}

function expectBook(
  response: HttpResponse,
  status: number,
  message: string,
  fields: Partial<Book> = {},
): Book {
  const data = expectOutcome(response, status, message);
  if (!isBook(data)) throw new Mismatch(response.request, 'a book as data', describeResponse(response));
  expectSame(response.request, data, { ...data, ...fields });
  return data;
}

/** Passes when the response is the list of books. @returns the books */
export function expectBooks(response: HttpResponse): readonly Book[] {
  const data = expectOutcome(response, 200, 'Books retrieved successfully');
  if (!Array.isArray(data))
    throw new Mismatch(response.request, 'an array as data', describeResponse(response));
  const other: unknown = data.find((book) => !isBook(book));
  if (other !== undefined) throw new Mismatch(response.request, 'books only', inJson(other));
  return data as Book[];
}

/** Passes when the response has the header with this value, or one that matches. */
export function expectHeader(response: HttpResponse, name: string, expected: string | RegExp): void {
  const value = response.headers.get(name);
  const holds = typeof expected === 'string' ? value === expected : expected.test(value ?? '');
  if (!holds)
    throw new Mismatch(`${response.request} (${response.status})`, `${name}: ${expected}`, value ?? 'none');
}

/** Parses a JSON object; undefined for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value has exactly the four fields, with their types. */
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

/** The `data` of the envelope; undefined when the response has another outcome. */
function dataIn(response: HttpResponse, status: number, message: string): unknown {
  const type = response.headers.get('content-type') ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Mismatch(
      response.request,
      'Content-Type application/json',
      `${type}: ${describeResponse(response)}`,
    );
  }
  const envelope = parseObject(response.body);
  const data = envelope?.data;
  return response.status === status && isDeepStrictEqual(envelope, { status, message, data })
    ? data
    : undefined;
}

function asText(status: number, message: string, data: string): string {
  return `${status} {"status":${status},"message":"${message}","data":${data}}`;
}

function describeResponse(response: HttpResponse): string {
  return `${response.status} ${response.body || '(no content)'}`;
}

function inJson(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
