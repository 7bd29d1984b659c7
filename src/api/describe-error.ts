import { StoreUnavailable, TableRejection } from '../book/book-store.ts';
import type { ErrorDescription } from '../http/request-log.ts';
import { invalidIndex } from './many-books.ts';

/** Logs only the reason of an unavailable store, what rejects a book, or the stack of a defect: other properties may quote a body. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof StoreUnavailable)
    return {
      outcome: 'serviceUnavailable',
      detail: error.detail,
      fields: { reason: error.reason, msg: 'the store is unavailable' },
    };
  if (error instanceof TableRejection)
    return {
      outcome: 'invalidInput',
      detail: error.message,
      ...(error.index !== undefined && { headers: invalidIndex(error.index) }),
      level: 'warn',
      fields: { constraint: error.constraint, msg: 'the table books does not accept a book' },
    };
  return { outcome: 'internalError', fields: { err: defectOf(error), msg: 'internal error' } };
}

function defectOf(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { type: name, message, stack, code };
}
