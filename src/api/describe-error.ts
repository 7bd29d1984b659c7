import { StoreUnavailable } from '../book/book-store-interface.ts';
import type { ErrorDescription } from '../http/request-log.ts';

/**
 * The outcome and the log fields of an error that a handler throws. An unavailable store is logged with its reason, any
 * other error, which is a defect, with its stack. Other properties may come from a body or a driver, and are not logged.
 */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof StoreUnavailable)
    return {
      outcome: 'serviceUnavailable',
      fields: { reason: error.reason, msg: 'the store is unavailable' },
    };
  return { outcome: 'internalError', fields: { err: defectOf(error), msg: 'internal error' } };
}

function defectOf(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { type: name, message, stack, code };
}
