import { PROTECTED_ERRORS, toOperations } from '../api/description/operations.ts';
import * as schemas from '../api/description/schemas.ts';
import { listParameters } from './query.ts';

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
    errors: ['invalidQuery', ...PROTECTED_ERRORS],
  },
});
