/** The outcomes of requests, as in the tables of the contract. Messages are exact: clients may rely on them. */
export const outcomes = {
  // POST /token
  tokenGenerated: { status: 200, message: 'Token generated successfully' },
  invalidRequestPayload: { status: 400, message: 'Invalid request payload' },
  invalidCredentials: { status: 401, message: 'Invalid credentials' },
  tokenNotGenerated: { status: 500, message: 'Could not generate token' },

  // Every endpoint that needs a token
  tokenRequired: { status: 401, message: 'Authorization token required' },
  invalidToken: { status: 401, message: 'Invalid token' },
  readOnlyToken: { status: 403, message: 'Read-only token' },

  // POST /book, GET, POST and PATCH /books, GET, PUT and DELETE /book/{id}
  bookCreated: { status: 201, message: 'Book created successfully' },
  booksRetrieved: { status: 200, message: 'Books retrieved successfully' },
  bookRetrieved: { status: 200, message: 'Book retrieved successfully' },
  bookUpdated: { status: 200, message: 'Book updated successfully' },
  bookDeleted: { status: 200, message: 'Book deleted successfully' },
  bookNotFound: { status: 404, message: 'Book not found' },
  booksCreated: { status: 201, message: 'Books created successfully' },
  booksUpdated: { status: 200, message: 'Books updated successfully' },
  invalidQuery: { status: 400, message: 'Invalid query' },
  invalidInput: { status: 400, message: 'Invalid input' },

  // GET /changes, GET /books/deleted, GET /book/{id}/history, POST /book/{id}/restore, POST /books/restore
  changesRetrieved: { status: 200, message: 'Changes retrieved successfully' },
  deletedBooksRetrieved: { status: 200, message: 'Deleted books retrieved successfully' },
  historyRetrieved: { status: 200, message: 'History retrieved successfully' },
  bookRestored: { status: 200, message: 'Book restored successfully' },
  booksRestored: { status: 200, message: 'Books restored successfully' },
  bookExists: { status: 409, message: 'Book exists' },
  changesRemoved: { status: 410, message: 'Changes no longer kept' },

  // GET /healthz and /readyz
  alive: { status: 200, message: 'Service is alive' },
  ready: { status: 200, message: 'Service is ready' },

  // Preconditions (RFC 9110, section 13)
  notModified: { status: 304, message: 'Not modified' },
  preconditionFailed: { status: 412, message: 'Precondition failed' },

  // Idempotency-Key (draft-ietf-httpapi-idempotency-key-header)
  invalidIdempotencyKey: { status: 400, message: 'Invalid idempotency key' },
  idempotencyKeyReused: { status: 422, message: 'Idempotency key reused' },

  // Beyond the contract's table: HTTP, limits and the store
  badRequest: { status: 400, message: 'Bad request' },
  notFound: { status: 404, message: 'Not found' },
  methodNotAllowed: { status: 405, message: 'Method not allowed' },
  requestTimeout: { status: 408, message: 'Request timeout' },
  payloadTooLarge: { status: 413, message: 'Payload too large' },
  expectationFailed: { status: 417, message: 'Expectation failed' },
  tooManyRequests: { status: 429, message: 'Too many requests' },
  headersTooLarge: { status: 431, message: 'Request header fields too large' },
  internalError: { status: 500, message: 'Internal server error' },
  serviceUnavailable: { status: 503, message: 'Service unavailable' },
} as const satisfies Record<string, Outcome>;

/** A status of HTTP (RFC 9110, section 15) and the exact text of `message`. */
interface Outcome {
  readonly status: number;
  readonly message: string;
}

export type OutcomeName = keyof typeof outcomes;

/** The body of a response. */
export function envelope<Data>(name: OutcomeName, data: Data): Outcome & { readonly data: Data } {
  const { status, message } = outcomes[name];
  return { status, message, data };
}

/** The envelope before and after `data`, in UTF-8, for data that is already JSON. */
export function envelopeAround(name: OutcomeName): [prefix: Uint8Array, suffix: Uint8Array] {
  const text = JSON.stringify(envelope(name, null));
  return [Buffer.from(text.slice(0, -'null}'.length)), Buffer.from('}')];
}
