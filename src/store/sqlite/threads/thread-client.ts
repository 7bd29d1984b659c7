import { on, once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { StoreUnavailable, TableRejection } from '../../../book/book-store.ts';
import { StoreNotReady } from '../../errors.ts';
import { DegradablePart, type StoreObserver } from '../../observer.ts';
import { toNotReady, toStoreError } from '../errors.ts';
import { createLoss, type Loss, StoreLost } from '../files/file-guard.ts';

/** A thread with its own connection, as seen from the main thread. It responds in the order of the requests. */
export class ThreadClient<Request, Response> {
  /** Resolves with the reason, in one line, when the thread fails or reports that writes may be lost. It then gets no requests. */
  readonly failed: Promise<string>;
  readonly #thread: Worker;
  readonly #exited: Promise<unknown>;
  readonly #pending: PromiseWithResolvers<Response>[] = [];
  #isClosed = false;

  private constructor(thread: Worker) {
    const failed = Promise.withResolvers<string>();
    this.failed = failed.promise;
    this.#thread = thread;
    this.#exited = new Promise((resolve) => thread.once('exit', resolve));
    thread.on('error', (error: Error) =>
      failed.resolve(`a thread of the store has failed: ${error.message}`),
    );
    thread.on('message', (message: Message<Response>) => {
      if ('lost' in message) failed.resolve(message.lost);
      else if ('response' in message) this.#pending.shift()?.resolve(message.response);
      else this.#pending.shift()?.reject(toError(message.failure));
    });
    void this.failed.then(() => {
      this.#isClosed = true;
      // It may stay, see `close` of RequestHandler.
      thread.unref();
      for (const { reject } of this.#pending.splice(0)) reject(new StoreUnavailable('a thread has failed'));
    });
  }

  /** @param module calls {@link serveRequests} @throws StoreNotReady when the file cannot be opened or prepared */
  static async start<Request, Response>(
    module: URL,
    path: string,
    loss: Loss,
  ): Promise<ThreadClient<Request, Response>> {
    const cache = getCompileCacheDir();
    // The names of modules end in .js in a build, which rewrites imports only.
    const thread = new Worker(new URL(module.href.replace(/\.ts$/, extname(import.meta.url))), {
      workerData: { path, loss },
      // Threads do not inherit the compile cache that bin/bookkeeping.mjs enables.
      ...(cache !== undefined && { env: { NODE_COMPILE_CACHE: dirname(cache) } }),
      resourceLimits: MEMORY_LIMITS,
    });
    const [message] = (await once(thread, 'message')) as [Message<void>];
    if ('failure' in message) throw toError(message.failure);
    return new ThreadClient<Request, Response>(thread);
  }

  /** Sends one request. @throws errors in terms of the BookStore interface */
  send(request: Request): Promise<Response> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    const call = Promise.withResolvers<Response>();
    this.#pending.push(call);
    this.#thread.postMessage(request);
    return call.promise;
  }

  /** Ends the thread after it has responded to the pending requests and closed its connection; not if the store is lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#thread.postMessage(CLOSE);
    await Promise.race([this.#exited, this.failed]);
  }
}

/** A thread that starts with its first request, and again when it has failed to start or has ended by itself. */
export class LazyThread<Request, Response> {
  readonly #module: URL;
  readonly #path: string;
  readonly #loss: Loss;
  readonly #part: DegradablePart;
  #thread: Promise<ThreadClient<Request, Response>> | undefined;
  #isClosed = false;

  /** @param loss that of the store, if the thread writes to it */
  constructor(module: URL, path: string, name: string, observer: StoreObserver, loss = createLoss()) {
    this.#loss = loss;
    this.#part = new DegradablePart(name, observer);
    this.#module = module;
    this.#path = path;
  }

  async send(request: Request): Promise<Response> {
    if (this.#isClosed) throw new StoreUnavailable('closed');
    this.#thread ??= this.#start();
    return (await this.#thread).send(request);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#thread?.catch(() => undefined))?.close();
  }

  async #start(): Promise<ThreadClient<Request, Response>> {
    try {
      const thread = await ThreadClient.start<Request, Response>(this.#module, this.#path, this.#loss);
      void thread.failed.then((reason) => {
        this.#part.report(new Error(reason));
        this.#thread = undefined;
      });
      this.#part.report(undefined);
      return thread;
    } catch (error) {
      this.#thread = undefined;
      this.#part.report(error instanceof Error ? error : String(error));
      throw error instanceof StoreNotReady ? new StoreUnavailable('a thread does not start') : error;
    }
  }
}

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
  open: (path: string, loss: Loss) => Promise<RequestHandler<Request, Response>>,
): Promise<void> {
  if (!parentPort) throw new Error('not a thread');
  const port = parentPort;
  const { path, loss } = workerData as { readonly path: string; readonly loss: Loss };
  const post = (message: Message<Response | undefined>, transfer: ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);
  let handler: RequestHandler<Request, Response>;
  try {
    handler = await open(path, loss);
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

const MEMORY_LIMITS = {
  /** A thread allocates little at a time, and keeps garbage up to this size. */
  maxYoungGenerationSizeMb: 8,
  /** Several times the texts of a batch; the default lets threads exceed the memory of a small container. */
  maxOldGenerationSizeMb: 64,
};

const CLOSE = null;

type Message<Response> =
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

function toFailure(error: unknown): Failure {
  if (error instanceof StoreUnavailable) return { unavailable: error.reason };
  if (error instanceof TableRejection) return { constraint: error.constraint, index: error.index };
  if (error instanceof StoreNotReady) return { notReady: error.message };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack };
}

function toError(failure: Failure): Error {
  if ('unavailable' in failure) return new StoreUnavailable(failure.unavailable);
  if ('constraint' in failure) return new TableRejection(failure.constraint, failure.index);
  if ('notReady' in failure) return new StoreNotReady(failure.notReady);
  const error: Error = new RequestFailed(failure.message);
  return Object.assign(error, { stack: failure.stack });
}

/** The handler of a thread has thrown. */
class RequestFailed extends Error {}

/** Whether an error proves that a request to a thread has changed nothing, see {@link RequestHandler.handle}. */
export function isUndoneInThread(error: unknown): boolean {
  return error instanceof RequestFailed || error instanceof TableRejection;
}
