import { on, once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { StoreUnavailable } from '../../book.ts';
import { StoreNotReady } from '../not-ready.ts';
import { toNotReady } from './errors.ts';

/**
 * A thread with a connection of its own, seen from the one that serves: what waits for the disk holds up nobody else.
 * It answers in the order in which it is asked. One that ends by itself is a defect, and ends the process.
 */
export class ConnectionThread<Request, Response> {
  readonly #worker: Worker;
  readonly #askers: PromiseWithResolvers<Response>[] = [];
  #isClosed = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: Answer<Response>) => {
      const asker = this.#askers.shift();
      if ('response' in answer) asker?.resolve(answer.response);
      else asker?.reject(toError(answer.failure));
    });
  }

  /**
   * Starts a thread.
   *
   * @param module what it runs, which calls {@link answerFrom}
   * @param path the SQLite file
   * @throws StoreNotReady when the file cannot be opened or prepared
   */
  static async start<Request, Response>(
    module: URL,
    path: string,
  ): Promise<ConnectionThread<Request, Response>> {
    const cache = getCompileCacheDir();
    const worker = new Worker(module, {
      workerData: path,
      // The compiled code that src/main.ts cares for is not inherited.
      ...(cache !== undefined && { env: { NODE_COMPILE_CACHE: dirname(cache) } }),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    const [answer] = (await once(worker, 'message')) as [Answer<void>];
    if ('failure' in answer) throw toError(answer.failure);
    return new ConnectionThread<Request, Response>(worker);
  }

  /** Asks for one thing. @throws what went wrong, in the terms of the BookStore interface */
  ask(request: Request): Promise<Response> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    const asker = Promise.withResolvers<Response>();
    this.#askers.push(asker);
    this.#worker.postMessage(request);
    return asker.promise;
  }

  /** Lets it answer what it was asked, close its connection and end. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#worker.postMessage(CLOSE);
    await once(this.#worker, 'exit');
  }
}

/** What a thread answers from. */
export interface Answerer<Request, Response> {
  answer(request: Request): Response | Promise<Response>;
  /** The memory of a response that is handed over instead of copied. */
  transfer?(response: Response): ArrayBuffer[];
  close(): void;
}

/**
 * The whole of a thread: opens what it answers from, and answers until it is told to close.
 *
 * @param open opens the SQLite file at a path; throws StoreNotReady when that cannot be done
 */
export async function answerFrom<Request, Response>(
  open: (path: string) => Promise<Answerer<Request, Response>>,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('not a thread');
  const path = workerData as string;
  let answerer: Answerer<Request, Response>;
  try {
    answerer = await open(path);
  } catch (error) {
    port.postMessage({ failure: toFailure(toNotReady(error, path)) } satisfies Answer<Response>);
    return;
  }

  const messages = on(port, 'message') as AsyncIterable<[Request | typeof CLOSE]>;
  port.postMessage({ response: undefined } satisfies Answer<void>);
  for await (const [request] of messages) {
    if (request === CLOSE) break;
    try {
      const response = await answerer.answer(request);
      port.postMessage({ response } satisfies Answer<Response>, answerer.transfer?.(response) ?? []);
    } catch (error) {
      port.postMessage({ failure: toFailure(error) } satisfies Answer<Response>);
    }
  }
  answerer.close();
  port.close();
}

/** A thread allocates little at a time; what it may keep unswept is memory that the process holds. */
const YOUNG_GENERATION_MB = 8;

const CLOSE = null;

type Answer<Response> = { readonly response: Response } | { readonly failure: Failure };

/** An error as it travels between threads, which keep no classes. */
type Failure =
  | { readonly name: 'StoreUnavailable'; readonly reason: string }
  | { readonly name: 'StoreNotReady' | 'Error'; readonly message: string; readonly stack?: string };

function toFailure(error: unknown): Failure {
  if (error instanceof StoreUnavailable) return { name: 'StoreUnavailable', reason: error.reason };
  if (error instanceof StoreNotReady) return { name: 'StoreNotReady', message: error.message };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name: 'Error', message, ...(stack !== undefined && { stack }) };
}

function toError(failure: Failure): Error {
  if (failure.name === 'StoreUnavailable') return new StoreUnavailable(failure.reason);
  if (failure.name === 'StoreNotReady') return new StoreNotReady(failure.message);
  const { message, stack } = failure;
  return Object.assign(new Error(message), stack !== undefined && { stack });
}
