import type { OutcomeName, outcomes } from '../../http/outcomes.ts';
import { CACHE_CONTROL } from '../../http/response.ts';
import { listParameters } from '../list/query.ts';
import {
  answers,
  book,
  bookChanges,
  books,
  createdBooks,
  ETAG,
  IF_MATCH,
  IF_NONE_MATCH,
  idempotencyKey,
  invalidIndex,
  LIST_HEADERS,
  loginRequest,
  newBook,
  newBooks,
  nothing,
  type Schema,
  token,
} from './schemas.ts';

/**
 * An endpoint as its clients see it. A route in `server.ts` takes its operation as Fastify's `schema`; from all of them
 * `/openapi.json` is made.
 */
export interface Operation {
  /** A heading of the document. */
  readonly tag: 'Tokens' | 'Books' | 'Health';
  /** What it does, in a few words. */
  readonly summary: string;
  /** What else is to be known, in CommonMark. */
  readonly description?: string;
  /** Parameters of the query, by name. Those of the path are known by it. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Header fields that a request may have besides `Authorization`, by name. */
  readonly requestHeaders?: Readonly<Record<string, Schema>>;
  /** How the body is read, where there is one. */
  readonly body?: Schema;
  /** What is answered when it succeeds, and its `data`; absent where `text` is answered. */
  readonly success?: SuccessName;
  readonly data?: Schema;
  /** What a 200 says that is plain text, and so has no envelope. */
  readonly text?: string;
  /** Header fields that this answer may have besides `Cache-Control`, by name. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** Answers that have no content, and so no envelope, such as 304: what each status says. */
  readonly withoutContent?: Readonly<Record<number, string>>;
  /** Header fields that a refusal may have besides those of its status, by outcome. */
  readonly refusalHeaders?: Readonly<Partial<Record<OutcomeName, Readonly<Record<string, Schema>>>>>;
  /** What else it may answer. With `tokenRequired` among them it is behind a token. */
  readonly refusals: readonly RefusalName[];
}

/** The outcomes with data, and those without. */
export type RefusalName = {
  [Name in OutcomeName]: StatusOf<Name> extends 200 | 201 | 304 ? never : Name;
}[OutcomeName];
export type SuccessName = Exclude<OutcomeName, RefusalName | 'notModified'>;
type StatusOf<Name extends OutcomeName> = (typeof outcomes)[Name]['status'];

/** What HTTP, the limits and the state of the service may make of any request. */
const ANYWHERE = [
  'badRequest',
  'methodNotAllowed',
  'requestTimeout',
  'expectationFailed',
  'headersTooLarge',
  'internalError',
  'serviceUnavailable',
] as const satisfies RefusalName[];

/** What is refused in front of every endpoint for books. */
const BEHIND_TOKEN = ['tokenRequired', 'invalidToken', ...ANYWHERE] as const satisfies RefusalName[];

/** An id that is empty makes another path. */
const OF_ONE_BOOK = ['bookNotFound', 'notFound', ...BEHIND_TOKEN] as const satisfies RefusalName[];

const UNKNOWN_AFTER_5XX = 'After a 5xx it is unknown whether that has happened.';

const declared = {
  issueToken: {
    tag: 'Tokens',
    summary: 'Sign in',
    description: 'Gives a token for the one pair of username and password. An absent field counts as empty.',
    body: loginRequest,
    success: 'tokenGenerated',
    data: token,
    refusals: [
      'invalidRequestPayload',
      'invalidCredentials',
      'payloadTooLarge',
      'tooManyRequests',
      'tokenNotGenerated',
      ...ANYWHERE,
    ],
  },
  createBook: {
    tag: 'Books',
    summary: 'Create a book',
    description: `Stores a book, and gives it an id. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { 'Idempotency-Key': idempotencyKey },
    body: newBook,
    success: 'bookCreated',
    data: book,
    headers: ETAG,
    refusals: [
      'invalidInput',
      'invalidIdempotencyKey',
      'idempotencyKeyReused',
      'payloadTooLarge',
      ...BEHIND_TOKEN,
    ],
  },
  createBooks: {
    tag: 'Books',
    summary: 'Create many books',
    description: `Stores all of the books, and gives them ids, or none. ${UNKNOWN_AFTER_5XX}`,
    body: newBooks,
    success: 'booksCreated',
    data: createdBooks,
    refusalHeaders: { invalidInput: { 'Invalid-Index': invalidIndex } },
    refusals: ['invalidInput', 'payloadTooLarge', ...BEHIND_TOKEN],
  },
  listBooks: {
    tag: 'Books',
    summary: 'List books',
    description:
      'All books, or those that a query asks for; conditions are combined with AND. Every book that exists during the whole call is in the list once. A list that breaks off is no list.',
    query: listParameters,
    success: 'booksRetrieved',
    data: books,
    headers: LIST_HEADERS,
    refusals: ['invalidQuery', ...BEHIND_TOKEN],
  },
  findBook: {
    tag: 'Books',
    summary: 'Read a book',
    requestHeaders: { ...IF_NONE_MATCH, ...IF_MATCH },
    success: 'bookRetrieved',
    data: book,
    headers: ETAG,
    withoutContent: { 304: 'The book has one of the entity tags in `If-None-Match`.' },
    refusals: ['preconditionFailed', ...OF_ONE_BOOK],
  },
  updateBook: {
    tag: 'Books',
    summary: 'Change a book',
    description: `Changes the fields that the body has, and answers with the whole book. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { ...IF_MATCH, ...IF_NONE_MATCH },
    body: bookChanges,
    success: 'bookUpdated',
    data: book,
    headers: ETAG,
    refusals: ['invalidInput', 'preconditionFailed', 'payloadTooLarge', ...OF_ONE_BOOK],
  },
  deleteBook: {
    tag: 'Books',
    summary: 'Delete a book',
    description: `Removes a book for good. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { ...IF_MATCH, ...IF_NONE_MATCH },
    success: 'bookDeleted',
    data: nothing,
    refusals: ['preconditionFailed', ...OF_ONE_BOOK],
  },
  checkHealth: {
    tag: 'Health',
    summary: 'Ask whether the process serves',
    description: 'To restart one that does not. The store is not asked.',
    success: 'alive',
    data: nothing,
    refusals: ANYWHERE,
  },
  checkReadiness: {
    tag: 'Health',
    summary: 'Ask whether the store answers',
    description:
      'To send requests elsewhere while it is 503: the store is away or slow, or the service is stopping. Answered within 2 seconds.',
    success: 'ready',
    data: nothing,
    refusals: ANYWHERE,
  },
  readMetrics: {
    tag: 'Health',
    summary: 'Read the metrics',
    description:
      'For Prometheus. Responds with text, not with an envelope. There is no such path with `METRICS=off`.',
    text: 'All metrics, in the text format of Prometheus.',
    refusals: ['notFound', ...ANYWHERE],
  },
} as const satisfies Record<string, Operation>;

/** Every operation by its id, as the `schema` of its route: Fastify takes the serialisers, `/openapi.json` the rest. */
export const operations = Object.fromEntries(
  Object.entries<Operation>(declared).map(([id, operation]): [string, OperationSchema] => [
    id,
    { response: answers(operation.data ?? nothing), operation: { id, ...operation } },
  ]),
) as Readonly<Record<keyof typeof declared, OperationSchema>>;

/** What a route has as its `schema`. */
export interface OperationSchema {
  readonly response: Readonly<Record<string, Schema>>;
  readonly operation: Operation & { readonly id: string };
}

/** Whether a token is needed. */
export function isProtected({ refusals }: Operation): boolean {
  return refusals.includes('tokenRequired');
}

/** The `Cache-Control` of what its handler answers. */
export function cacheControlOf(operation: Operation): string {
  return isProtected(operation) ? CACHE_CONTROL.behindToken : CACHE_CONTROL.withoutToken;
}
