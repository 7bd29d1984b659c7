import type { OutcomeName, outcomes } from '../../http/outcomes.ts';
import * as schemas from './schemas.ts';

type Schema = schemas.Schema;

/** An endpoint. Its route has it as Fastify's `config`, from which `/openapi.json` is made; nothing is validated by it. */
export interface Operation {
  readonly tag: 'Tokens' | 'Books' | 'Health';
  readonly summary: string;
  /** Further explanation, in CommonMark. */
  readonly description?: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Request headers besides `Authorization`, by name. */
  readonly requestHeaders?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** The outcome of success, and its `data`; absent when the response is `text`. */
  readonly success?: SuccessName;
  readonly data?: Schema;
  /** Those of its schemas that are components of the document, by name, besides those of the core. */
  readonly namedSchemas?: Readonly<Record<string, Schema>>;
  /** The description of a 200 that is plain text without the envelope. */
  readonly text?: string;
  /** Headers of a successful response besides `Cache-Control`, by name. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** The descriptions of responses without content, such as 304, by status. */
  readonly withoutContent?: Readonly<Record<number, string>>;
  /** Headers of an error response besides {@link ERROR_HEADERS}, by outcome. */
  readonly errorHeaders?: Readonly<Partial<Record<OutcomeName, Readonly<Record<string, Schema>>>>>;
  /** The outcomes of error responses. The operation needs a token if `tokenRequired` is one of them. */
  readonly errors: readonly ErrorName[];
}

export type ErrorName = {
  [Name in OutcomeName]: StatusOf<Name> extends 200 | 201 | 304 ? never : Name;
}[OutcomeName];
type SuccessName = Exclude<OutcomeName, ErrorName | 'notModified'>;
type StatusOf<Name extends OutcomeName> = (typeof outcomes)[Name]['status'];

/** Headers of an error response of any operation, besides those of its status. */
export const ERROR_HEADERS: Operation['errorHeaders'] & object = {
  invalidRequestPayload: schemas.ERROR_DETAIL,
  invalidInput: schemas.ERROR_DETAIL,
  invalidQuery: schemas.ERROR_DETAIL,
  invalidToken: schemas.ERROR_DETAIL,
};

const COMMON_ERRORS = [
  'badRequest',
  'methodNotAllowed',
  'requestTimeout',
  'expectationFailed',
  'headersTooLarge',
  'internalError',
  'serviceUnavailable',
] as const satisfies ErrorName[];

export const PROTECTED_ERRORS = [
  'tokenRequired',
  'invalidToken',
  ...COMMON_ERRORS,
] as const satisfies ErrorName[];

export const WRITE_ERRORS = ['readOnlyToken', ...PROTECTED_ERRORS] as const satisfies ErrorName[];

/** With an empty id, the path is unknown. */
export const BOOK_ERRORS = ['bookNotFound', 'notFound', ...PROTECTED_ERRORS] as const satisfies ErrorName[];

export const UNKNOWN_AFTER_5XX = 'After a 5xx it is unknown whether that has happened.';

export const operations = toOperations({
  issueToken: {
    tag: 'Tokens',
    summary: 'Sign in',
    description: 'Issues a token for the configured username and password. An absent field is empty.',
    body: schemas.loginRequest,
    success: 'tokenGenerated',
    data: schemas.token,
    errors: [
      'invalidRequestPayload',
      'invalidCredentials',
      'payloadTooLarge',
      'tooManyRequests',
      'tokenNotGenerated',
      ...COMMON_ERRORS,
    ],
  },
  renewToken: {
    tag: 'Tokens',
    summary: 'Renew a token',
    description:
      'Issues another token for a valid one, with its scope. 12 hours after the sign-in it is 401. The claim `auth_time` has the time of the sign-in; of a token without it, that is 15 minutes before `exp`.',
    success: 'tokenGenerated',
    data: schemas.token,
    errors: PROTECTED_ERRORS,
  },
  createBook: {
    tag: 'Books',
    summary: 'Create a book',
    description: `Stores a book with a new id. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: schemas.IDEMPOTENCY_KEY,
    body: schemas.newBook,
    success: 'bookCreated',
    data: schemas.book,
    headers: schemas.ETAG,
    errors: [
      'invalidInput',
      'invalidIdempotencyKey',
      'idempotencyKeyReused',
      'payloadTooLarge',
      ...WRITE_ERRORS,
    ],
  },
  createBooks: {
    tag: 'Books',
    summary: 'Create many books',
    description: `Stores all books with new ids, or none. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: schemas.IDEMPOTENCY_KEY,
    body: schemas.newBooks,
    success: 'booksCreated',
    data: schemas.booksInOrder,
    errorHeaders: { invalidInput: schemas.INVALID_INDEX },
    errors: [
      'invalidInput',
      'invalidIdempotencyKey',
      'idempotencyKeyReused',
      'payloadTooLarge',
      ...WRITE_ERRORS,
    ],
  },
  updateBooks: {
    tag: 'Books',
    summary: 'Change many books',
    description: `Changes and deletes all of the books, or none. ${UNKNOWN_AFTER_5XX}`,
    body: schemas.bookUpdates,
    success: 'booksUpdated',
    data: schemas.updatedBooks,
    errorHeaders: {
      invalidInput: schemas.INVALID_INDEX,
      bookNotFound: schemas.INVALID_INDEX,
      preconditionFailed: schemas.INVALID_INDEX,
    },
    errors: ['invalidInput', 'bookNotFound', 'preconditionFailed', 'payloadTooLarge', ...WRITE_ERRORS],
  },
  listBooks: {
    tag: 'Books',
    summary: 'List books',
    description:
      'Returns all books. Every book that exists during the whole call is in the list once. Discard a truncated response.',
    success: 'booksRetrieved',
    data: schemas.books,
    errors: PROTECTED_ERRORS,
  },
  findBook: {
    tag: 'Books',
    summary: 'Read a book',
    requestHeaders: { ...schemas.IF_NONE_MATCH, ...schemas.IF_MATCH },
    success: 'bookRetrieved',
    data: schemas.book,
    headers: schemas.ETAG,
    withoutContent: { 304: 'The entity tag of the book is in `If-None-Match`.' },
    errors: ['preconditionFailed', ...BOOK_ERRORS],
  },
  updateBook: {
    tag: 'Books',
    summary: 'Change a book',
    description: `Changes the fields in the body, and returns the whole book. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { ...schemas.IF_MATCH, ...schemas.IF_NONE_MATCH },
    body: schemas.bookChanges,
    success: 'bookUpdated',
    data: schemas.book,
    headers: schemas.ETAG,
    errors: ['invalidInput', 'preconditionFailed', 'payloadTooLarge', 'readOnlyToken', ...BOOK_ERRORS],
  },
  deleteBook: {
    tag: 'Books',
    summary: 'Delete a book',
    description: `Deletes a book. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { ...schemas.IF_MATCH, ...schemas.IF_NONE_MATCH },
    success: 'bookDeleted',
    errors: ['invalidInput', 'preconditionFailed', 'readOnlyToken', ...BOOK_ERRORS],
  },
  checkHealth: {
    tag: 'Health',
    summary: 'Check the process',
    description: 'For liveness probes. Does not query the store.',
    success: 'alive',
    errors: COMMON_ERRORS,
  },
  checkReadiness: {
    tag: 'Health',
    summary: 'Check the store',
    description:
      'For readiness probes. 503 while the store is unavailable or slow, and while the service is stopping. Responds within 2 seconds.',
    success: 'ready',
    errors: COMMON_ERRORS,
  },
  readMetrics: {
    tag: 'Health',
    summary: 'Read the metrics',
    description: 'For Prometheus. Responds with text, without the envelope. 404 with `METRICS=off`.',
    text: 'All metrics, in the text format of Prometheus.',
    errors: ['notFound', ...COMMON_ERRORS],
  },
});

/** Gives operations their ids. Each is the `config` of its route. */
export function toOperations<Id extends string>(declared: Readonly<Record<Id, Operation>>) {
  return Object.fromEntries(
    Object.entries<Operation>(declared).map(([id, operation]) => [id, { id, ...operation }]),
  ) as Readonly<Record<Id, NamedOperation>>;
}

export type NamedOperation = Operation & { readonly id: string };

/** Whether it needs a token. */
export function isProtected({ errors }: Operation): boolean {
  return errors.includes('tokenRequired');
}
