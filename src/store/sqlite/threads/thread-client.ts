import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../../../book/book-store.ts';
import { CLOSE, type Message, toError } from './thread-messages.ts';

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

  /** @param module calls `serveRequests` @throws StoreNotReady when the file cannot be opened or prepared */
  static async start<Request, Response>(module: URL, path: string): Promise<ThreadClient<Request, Response>> {
    const cache = getCompileCacheDir();
    const thread = new Worker(toBuilt(module), {
      workerData: { path },
      // Threads do not inherit the compile cache that bin/bookkeeping.mjs enables.
      ...(cache !== undefined && { env: { NODE_COMPILE_CACHE: dirname(cache) } }),
      resourceLimits: MEMORY_LIMITS,
    });
    const [message] = (await once(thread, 'message')) as [Message<void>];
    if ('failure' in message) throw toError(message.failure);
    return new ThreadClient<Request, Response>(thread);
  }

  /** Sends one request, which `serveRequests` receives in the module of the thread. @throws errors in terms of the BookStore interface */
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

/** In a build, which rewrites imports only, the names of modules end in .js. */
export function toBuilt(module: URL): URL {
  return new URL(module.href.replace(/\.ts$/, extname(import.meta.url)));
}

const MEMORY_LIMITS = {
  /** A thread allocates little at a time, and keeps garbage up to this size. */
  maxYoungGenerationSizeMb: 8,
  /** Several times the texts of a batch; the default lets threads exceed the memory of a small container. */
  maxOldGenerationSizeMb: 64,
};
