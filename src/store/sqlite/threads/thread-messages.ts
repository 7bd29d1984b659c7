import { StoreUnavailable, TableRejection } from '../../../book/book-store.ts';
import { StoreNotReady } from '../../errors.ts';

/** What goes between the main thread and the others, besides requests. */

/** Asks a thread to end. */
export const CLOSE = null;

/** What a thread sends. */
export type Message<Response> =
  | { readonly response: Response }
  | { readonly failure: Failure }
  /** Why acknowledged writes may be lost. */
  | { readonly lost: string };

/** An error between threads, where objects lose their classes. */
type Failure =
  | { readonly unavailable: string }
  | { readonly constraint: string; readonly index: number | undefined }
  | { readonly notReady: string }
  | { readonly message: string; readonly stack: string | undefined };

/** An error as a message to another thread, which copies no classes. */
export function toFailure(error: unknown): Failure {
  if (error instanceof StoreUnavailable) return { unavailable: error.reason };
  if (error instanceof TableRejection) return { constraint: error.constraint, index: error.index };
  if (error instanceof StoreNotReady) return { notReady: error.message };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack };
}

/** The error of such a message. */
export function toError(failure: Failure): Error {
  if ('unavailable' in failure) return new StoreUnavailable(failure.unavailable);
  if ('constraint' in failure) return new TableRejection(failure.constraint, failure.index);
  if ('notReady' in failure) return new StoreNotReady(failure.notReady);
  const error: Error = new RequestFailed(failure.message);
  return Object.assign(error, { stack: failure.stack });
}

/** The handler of a thread has thrown. */
class RequestFailed extends Error {}

/** Whether an error proves that a request to a thread has changed nothing: its handler has thrown, which it may only do then. */
export function isUndoneInThread(error: unknown): boolean {
  return error instanceof RequestFailed || error instanceof TableRejection;
}
