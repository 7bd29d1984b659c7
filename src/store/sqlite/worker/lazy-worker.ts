import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { Part, type StoreObserver } from '../../observer.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { WorkerClient } from './worker-client.ts';

/** A worker thread that starts with its first request, and again when it has failed to start or has ended by itself. */
export class LazyWorker<Request, Response> {
  readonly #module: URL;
  readonly #path: string;
  readonly #part: Part;
  #worker: Promise<WorkerClient<Request, Response>> | undefined;
  #isClosed = false;

  /** See {@link WorkerClient.start}. @param name its name for the observer */
  constructor(module: URL, path: string, name: string, observer: StoreObserver | undefined) {
    this.#part = new Part(name, observer);
    this.#module = module;
    this.#path = path;
  }

  /** See {@link WorkerClient.send}. */
  async send(request: Request): Promise<Response> {
    if (this.#isClosed) throw new StoreUnavailable('closed');
    this.#worker ??= this.#start();
    return (await this.#worker).send(request);
  }

  /** See {@link WorkerClient.close}. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#worker?.catch(() => undefined))?.close();
  }

  async #start(): Promise<WorkerClient<Request, Response>> {
    try {
      const worker = await WorkerClient.start<Request, Response>(this.#module, this.#path);
      void worker.lost.then((reason) => {
        this.#part.failure = new Error(reason);
        this.#worker = undefined;
      });
      this.#part.failure = undefined;
      return worker;
    } catch (error) {
      this.#worker = undefined;
      this.#part.failure = error instanceof Error ? error : String(error);
      // Any other error is a defect.
      throw error instanceof StoreNotReady ? new StoreUnavailable('a thread does not start') : error;
    }
  }
}
