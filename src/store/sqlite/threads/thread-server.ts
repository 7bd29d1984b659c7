import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { toNotReady, toStoreError } from '../errors.ts';
import { StoreLost } from '../files/file-guard.ts';
import { CLOSE, type Message, toFailure } from './thread-messages.ts';

/** What a thread does; its side of a ThreadClient. */
export interface RequestHandler<Request, Response> {
  /**
   * @throws StoreLost when no response may be sent any more; otherwise errors of SQLite or of the BookStore interface, only if the
   *   request has changed nothing
   */
  handle(request: Request): Response | Promise<Response>;
  /** The memory of a response that is transferred instead of copied. */
  transfer?(response: Response): ArrayBuffer[];
  /** @param isIdle whether it is called at an interval, and not after a response @throws StoreLost; other errors are ignored */
  maintain?(isIdle: boolean): void;
  /** @throws StoreLost when the thread must stay as it is until the process ends */
  close(): void | Promise<void>;
}

const MAINTENANCE_MS = 500;

/** The main function of a thread. @param open opens the SQLite file at a path, or throws */
export async function serveRequests<Request, Response>(
  open: (path: string) => Promise<RequestHandler<Request, Response>>,
): Promise<void> {
  if (!parentPort) throw new Error('not a thread');
  const port = parentPort;
  const { path } = workerData as { readonly path: string };
  const post = (message: Message<Response | undefined>, transfer: ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);
  let handler: RequestHandler<Request, Response>;
  try {
    handler = await open(path);
  } catch (error) {
    post({ failure: toFailure(toNotReady(error, path)) });
    return;
  }

  const messages = on(port, 'message') as AsyncIterable<[Request | typeof CLOSE]>;
  const maintain = (isIdle: boolean) => {
    try {
      handler.maintain?.(isIdle);
    } catch (error) {
      // Any other error occurs again at the next request.
      if (error instanceof StoreLost) post({ lost: error.message });
    }
  };
  const maintenance = setInterval(maintain, MAINTENANCE_MS, true);
  post({ response: undefined });
  for await (const [request] of messages) {
    if (request === CLOSE) break;
    let response: Response;
    try {
      response = await handler.handle(request);
    } catch (error) {
      post(
        error instanceof StoreLost ? { lost: error.message } : { failure: toFailure(toStoreError(error)) },
      );
      continue;
    }
    // An error from here on ends the thread, as the request may have been committed.
    post({ response }, handler.transfer?.(response));
    maintain(false);
  }
  try {
    await handler.close();
  } catch (error) {
    if (!(error instanceof StoreLost)) throw error;
    post({ lost: error.message });
    return;
  }
  clearInterval(maintenance);
  port.close();
}
