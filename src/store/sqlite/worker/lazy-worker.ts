import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { Part, type StoreObserver } from '../../observer.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { WorkerClient } from './worker-client.ts';

/** A thread that is started when it is first asked; one that cannot start, or ends by itself, is started again. */
export class LazyWorker<Request, Response> {
  readonly #module: URL;
  readonly #path: string;
  readonly #part: Part;
  #thread: Promise<WorkerClient<Request, Response>> | undefined;
  #isClosed = false;

  /** See {@link WorkerClient.start}. @param name what the observer knows it as */
  constructor(module: URL, path: string, name: string, observer: StoreObserver | undefined) {
    this.#part = new Part(name, observer);
    this.#module = module;
    this.#path = path;
  }

  /** Asks for one thing. @throws what went wrong, in the terms of the BookStore interface */
  async send(request: Request): Promise<Response> {
    if (this.#isClosed) throw new StoreUnavailable('closed');
    this.#thread ??= this.#start();
    return (await this.#thread).send(request);
  }

  /** Lets it answer what it was asked, and ends it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#thread?.catch(() => undefined))?.close();
  }

  async #start(): Promise<WorkerClient<Request, Response>> {
    try {
      const thread = await WorkerClient.start<Request, Response>(this.#module, this.#path);
      void this.#forget(thread.lost);
      this.#part.failure = undefined;
      return thread;
    } catch (error) {
      this.#thread = undefined;
      this.#part.failure = error instanceof Error ? error : String(error);
      // Anything else is a defect.
      throw error instanceof StoreNotReady ? new StoreUnavailable('a thread does not start') : error;
    }
  }

  async #forget(lost: Promise<string>): Promise<void> {
    this.#part.failure = new Error(await lost);
    this.#thread = undefined;
  }
}
