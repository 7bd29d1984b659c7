import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope, envelopeAround, type OutcomeName, outcomes } from '../../src/http/outcomes.ts';

/** The specification's "Endpoints" and "Errors", and the outcomes beyond them. */
const CONTRACT = {
  tokenGenerated: [200, 'Token generated successfully'],
  invalidRequestPayload: [400, 'Invalid request payload'],
  invalidCredentials: [401, 'Invalid credentials'],
  tokenNotGenerated: [500, 'Could not generate token'],
  tokenRequired: [401, 'Authorization token required'],
  invalidToken: [401, 'Invalid token'],
  readOnlyToken: [403, 'Read-only token'],
  bookCreated: [201, 'Book created successfully'],
  booksRetrieved: [200, 'Books retrieved successfully'],
  bookRetrieved: [200, 'Book retrieved successfully'],
  bookUpdated: [200, 'Book updated successfully'],
  bookDeleted: [200, 'Book deleted successfully'],
  bookNotFound: [404, 'Book not found'],
  invalidQuery: [400, 'Invalid query'],
  invalidInput: [400, 'Invalid input'],
  booksUpdated: [200, 'Books updated successfully'],
  booksCreated: [201, 'Books created successfully'],
  changesRetrieved: [200, 'Changes retrieved successfully'],
  deletedBooksRetrieved: [200, 'Deleted books retrieved successfully'],
  historyRetrieved: [200, 'History retrieved successfully'],
  bookRestored: [200, 'Book restored successfully'],
  booksRestored: [200, 'Books restored successfully'],
  bookExists: [409, 'Book exists'],
  changesRemoved: [410, 'Changes no longer kept'],
  alive: [200, 'Service is alive'],
  ready: [200, 'Service is ready'],
  notModified: [304, 'Not modified'],
  preconditionFailed: [412, 'Precondition failed'],
  invalidIdempotencyKey: [400, 'Invalid idempotency key'],
  idempotencyKeyReused: [422, 'Idempotency key reused'],
  badRequest: [400, 'Bad request'],
  notFound: [404, 'Not found'],
  methodNotAllowed: [405, 'Method not allowed'],
  requestTimeout: [408, 'Request timeout'],
  payloadTooLarge: [413, 'Payload too large'],
  expectationFailed: [417, 'Expectation failed'],
  tooManyRequests: [429, 'Too many requests'],
  headersTooLarge: [431, 'Request header fields too large'],
  internalError: [500, 'Internal server error'],
  serviceUnavailable: [503, 'Service unavailable'],
} satisfies Record<OutcomeName, readonly [number, string]>;

test('The outcomes are those of the contract, to the letter', () => {
  const actual = Object.entries(outcomes).map(([name, { status, message }]) => [name, [status, message]]);
  assert.deepEqual(Object.fromEntries(actual), CONTRACT);
});

test('An envelope has status, message and data, in this order', () => {
  assert.equal(
    JSON.stringify(envelope('bookNotFound', null)),
    '{"status":404,"message":"Book not found","data":null}',
  );
  assert.equal(
    JSON.stringify(envelope('tokenGenerated', { token: 'a.b.c' })),
    '{"status":200,"message":"Token generated successfully","data":{"token":"a.b.c"}}',
  );
});

for (const name of Object.keys(outcomes) as OutcomeName[]) {
  test(`The text around the data of ${name} makes the same envelope`, () => {
    const [before, behind] = envelopeAround(name);
    const around = Buffer.concat([before, Buffer.from('[1]'), behind]).toString();
    assert.equal(around, JSON.stringify(envelope(name, [1])));
  });
}
