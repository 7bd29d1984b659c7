import { StoreUnavailable } from '../book/book-store-interface.ts';
import type { ErrorDescription } from '../http/request-log.ts';

/**
 * The outcome of an error that a handler throws, and what the log says about it. An unavailable store is an operational
 * error, and its reason is enough. Any other error is a defect, logged with its stack; other properties of the error
 * may come from a body or a driver, and are not logged.
 */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof StoreUnavailable)
    return {
      outcome: 'serviceUnavailable',
      cause: { reason: error.reason },
      msg: 'the store is unavailable',
    };
  return { outcome: 'internalError', cause: { err: defectOf(error) }, msg: 'a defect' };
}

function defectOf(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { type: name, message, stack, ...(code !== undefined && { code }) };
}
