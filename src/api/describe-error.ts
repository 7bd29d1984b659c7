import { StoreUnavailable } from '../book/book-store.ts';
import type { ErrorDescription } from '../http/request-log.ts';

/** Logs only the reason of an unavailable store, or the stack of a defect: other properties may quote a body. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof StoreUnavailable)
    return {
      outcome: 'serviceUnavailable',
      detail: error.detail,
      fields: { reason: error.reason, msg: 'the store is unavailable' },
    };
  return { outcome: 'internalError', fields: { err: defectOf(error), msg: 'internal error' } };
}

function defectOf(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { type: name, message, stack, code };
}
