import { type NamedOperation, operations, PROTECTED_ERRORS } from '../api/description/operations.ts';
import { listParameters } from './query.ts';

/** GET /books where there are searches: the operation of the core with parameters. */
export const searchBooks: NamedOperation = {
  ...operations.listBooks,
  description:
    'Returns all books, or those that match a query; conditions are combined with AND. Every book that exists during the whole call is in the list once; with a query, one that changes meanwhile may be in it twice, or not. Discard a truncated response.',
  query: listParameters,
  headers: {
    Link: { type: 'string', description: 'The next page, if any, with `rel="next"` (RFC 8288).' },
    'X-Total-Count': {
      type: 'integer',
      minimum: 0,
      description: 'The number of matching books, with `count=true`.',
    },
    'X-Offset': {
      type: 'integer',
      minimum: 0,
      description: 'The number of matches before the page, with `count=true` and `offset` or `from`.',
    },
  },
  errorHeaders: {
    serviceUnavailable: {
      'Error-Detail': {
        type: 'string',
        description: 'Why a search or a sorted list cannot be made yet, for people. Its text may change.',
        examples: ['The search is being prepared (34 %)'],
      },
    },
  },
  errors: ['invalidQuery', ...PROTECTED_ERRORS],
};
