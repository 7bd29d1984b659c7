import {
  BOOK_ERRORS,
  PROTECTED_ERRORS,
  toOperations,
  UNKNOWN_AFTER_5XX,
  WRITE_ERRORS,
} from '../api/description/operations.ts';
import * as schemas from '../api/description/schemas.ts';
import { BOOKS_MAX } from '../api/many-books.ts';
import type { ParameterSchema } from '../http/query-parameters.ts';

type Schema = schemas.Schema;

const limit = {
  type: 'integer',
  minimum: 1,
  maximum: 1_000,
  default: 100,
  description: 'The maximum number of changes in a response.',
} as const;

export const historyParameters = {
  limit,
  after: { type: 'string', minLength: 1, description: 'The cursor of the last change of the previous page.' },
} as const satisfies Record<string, ParameterSchema>;

export const changesParameters = {
  limit,
  after: {
    type: 'string',
    minLength: 1,
    description:
      'The cursor of the last change seen, or `now` for the changes to come; absent, the changes begin with the first that is kept.',
  },
  order: {
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
    description: '`desc` lists the last changes so far, the last one first, without `wait`.',
  },
  wait: {
    type: 'integer',
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'The seconds to wait for a change when there is none.',
  },
} as const satisfies Record<string, ParameterSchema>;

const CHANGE_PROPERTIES = {
  cursor: {
    type: 'string',
    description: 'The value of `after` for the changes after this one.',
    examples: ['1042-2gosa7pa2gv'],
  },
  type: { type: 'string', enum: ['created', 'updated', 'deleted'], examples: ['created'] },
  at: { type: 'string', format: 'date-time', examples: ['2026-11-22T12:00:00.000Z'] },
  book: schemas.book,
} as const;

const change = {
  type: 'object',
  properties: CHANGE_PROPERTIES,
  required: Object.keys(CHANGE_PROPERTIES),
} as const satisfies Schema;

/** A change in the history of a book. */
const changeOfBook = {
  ...change,
  properties: {
    ...CHANGE_PROPERTIES,
    gapAfter: {
      type: 'boolean',
      const: true,
      description:
        'Present when changes after this one, and before the next one that is known, may be missing.',
      examples: [true],
    },
  },
} as const satisfies Schema;

const CHANGES = {
  tag: 'Books',
  data: {
    type: 'array',
    items: change,
    description: '`book` is what the book became; for `deleted`, what it was.',
  },
  namedSchemas: { Change: change },
  headers: {
    Link: { type: 'string', description: 'The following changes, with `rel="next"` (RFC 8288).' },
  },
} as const;

export const historyOperations = toOperations({
  followChanges: {
    ...CHANGES,
    summary: 'Follow the changes',
    description:
      'Returns what was created, updated and deleted, in the order of commits, whichever program wrote. 404 with `HISTORY=off`.',
    query: changesParameters,
    success: 'changesRetrieved',
    errors: ['invalidQuery', 'changesRemoved', 'notFound', ...PROTECTED_ERRORS],
  },
  listDeletedBooks: {
    ...CHANGES,
    summary: 'List the deleted books',
    description:
      'Returns the last deletions of books that have not been stored again since, the last one first. A page may have fewer than `limit`. 404 with `HISTORY=off`.',
    query: historyParameters,
    success: 'deletedBooksRetrieved',
    errors: ['invalidQuery', 'notFound', ...PROTECTED_ERRORS],
  },
  readHistory: {
    ...CHANGES,
    summary: 'Read the history of a book',
    description: 'Returns the changes of a book, the last one first. 404 when none are known.',
    query: historyParameters,
    data: { ...CHANGES.data, items: changeOfBook },
    namedSchemas: { ChangeOfBook: changeOfBook },
    success: 'historyRetrieved',
    errors: ['invalidQuery', ...BOOK_ERRORS],
  },
  restoreBook: {
    tag: 'Books',
    summary: 'Restore a deleted book',
    description: `Stores a book again as it was when it was deleted, under its id. Preconditions are about the book as it was deleted. ${UNKNOWN_AFTER_5XX}`,
    requestHeaders: { ...schemas.IF_MATCH, ...schemas.IF_NONE_MATCH },
    success: 'bookRestored',
    data: schemas.book,
    headers: schemas.ETAG,
    errors: ['invalidInput', 'bookExists', 'preconditionFailed', 'readOnlyToken', ...BOOK_ERRORS],
  },
  restoreBooks: {
    tag: 'Books',
    summary: 'Restore many deleted books',
    description: `Stores all of the books again as they were when they were deleted, under their ids, or none. ${UNKNOWN_AFTER_5XX}`,
    body: {
      type: 'array',
      items: schemas.bookId,
      maxItems: BOOKS_MAX,
      uniqueItems: true,
      examples: [[7, 42]],
    },
    success: 'booksRestored',
    data: schemas.booksInOrder,
    errorHeaders: {
      invalidInput: schemas.INVALID_INDEX,
      bookNotFound: schemas.INVALID_INDEX,
      bookExists: schemas.INVALID_INDEX,
    },
    errors: ['invalidInput', 'notFound', 'bookNotFound', 'bookExists', 'payloadTooLarge', ...WRITE_ERRORS],
  },
});
