import { PROTECTED_ERRORS, toOperations } from '../api/description/operations.ts';
import * as schemas from '../api/description/schemas.ts';
import { listParameters } from './query.ts';

const NOT_PREPARED = {
  'Error-Detail': {
    type: 'string',
    description: 'Why a search or a sorted list cannot be made yet, for people. Its text may change.',
    examples: ['The search is being prepared (34 %)'],
  },
};

export const { listBooks } = toOperations({
  listBooks: {
    tag: 'Books',
    summary: 'List books',
    description:
      'Returns all books, or those that match a query; conditions are combined with AND. Every book that exists during the whole call is in the list once. Discard a truncated response.',
    query: listParameters,
    success: 'booksRetrieved',
    data: schemas.books,
    headers: schemas.LIST_HEADERS,
    errorHeaders: { serviceUnavailable: NOT_PREPARED },
    errors: ['invalidQuery', ...PROTECTED_ERRORS],
  },
});
