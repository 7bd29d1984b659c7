import { StoreUnavailable } from '../../../book/book-store.ts';
import { StoreNotReady } from '../../errors.ts';
import { DegradablePart, type StoreObserver } from '../../observer.ts';
import { ThreadClient } from './thread-client.ts';

/** A thread that starts with its first request, and again when it has failed to start or has ended by itself. */
export class LazyThread<Request, Response> {
  readonly #module: URL;
  readonly #path: string;
  readonly #part: DegradablePart;
  #thread: Promise<ThreadClient<Request, Response>> | undefined;
  #isClosed = false;

  constructor(module: URL, path: string, name: string, observer: StoreObserver) {
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
      const thread = await ThreadClient.start<Request, Response>(this.#module, this.#path);
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
