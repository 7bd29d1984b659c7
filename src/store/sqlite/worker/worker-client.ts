import { on, once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { toNotReady } from '../errors.ts';
import { StoreLost } from '../files/file-guard.ts';

/**
 * A thread with a connection of its own, seen from the one that serves: what waits for the disk holds up nobody else.
 * It answers in the order in which it is asked.
 */
export class WorkerClient<Request, Response> {
  /** Resolves with the reason, in one line, when the thread ends by itself or says that the store is lost. */
  readonly lost: Promise<string>;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  readonly #pending: PromiseWithResolvers<Response>[] = [];
  #isClosed = false;

  private constructor(worker: Worker) {
    const lost = Promise.withResolvers<string>();
    this.lost = lost.promise;
    this.#worker = worker;
    this.#ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.on('error', (error: Error) => lost.resolve(`a thread of the store has failed: ${error.message}`));
    worker.on('message', (answer: Answer<Response>) => {
      if ('lost' in answer) lost.resolve(answer.lost);
      else this.#pass(answer);
    });
    void this.lost.then(() => this.#rejectPending());
  }

  /**
   * Starts a thread.
   *
   * @param module what it runs, which calls {@link serveRequests}
   * @param path the SQLite file
   * @throws StoreNotReady when the file cannot be opened or prepared
   */
  static async start<Request, Response>(module: URL, path: string): Promise<WorkerClient<Request, Response>> {
    const cache = getCompileCacheDir();
    const worker = new Worker(new URL(module.href.replace(/\.ts$/, ENDING)), {
      workerData: path,
      // The compiled code that src/main.ts cares for is not inherited.
      ...(cache !== undefined && { env: { NODE_COMPILE_CACHE: dirname(cache) } }),
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
        maxOldGenerationSizeMb: OLD_GENERATION_MB,
      },
    });
    const [answer] = (await once(worker, 'message')) as [Answer<void>];
    if ('failure' in answer) throw toError(answer.failure);
    return new WorkerClient<Request, Response>(worker);
  }

  /** Asks for one thing. @throws what went wrong, in the terms of the BookStore interface */
  send(request: Request): Promise<Response> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('closed'));
    const call = Promise.withResolvers<Response>();
    this.#pending.push(call);
    this.#worker.postMessage(request);
    return call.promise;
  }

  /** Lets it answer what it was asked, close its connection and end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#worker.postMessage(CLOSE);
    await this.#ended;
  }

  #pass(answer: Exclude<Answer<Response>, Loss>): void {
    const call = this.#pending.shift();
    if ('response' in answer) call?.resolve(answer.response);
    else call?.reject(toError(answer.failure));
  }

  #rejectPending(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.splice(0)) reject(new StoreUnavailable('lost'));
  }
}

/** What a thread answers from. */
export interface RequestHandler<Request, Response> {
  /** @throws StoreLost when nothing may be answered any more; else errors in the terms of the BookStore interface */
  handle(request: Request): Response | Promise<Response>;
  /** The memory of a response that is handed over instead of copied. */
  transfer?(response: Response): ArrayBuffer[];
  /** Called behind every answer, and from time to time. @throws StoreLost as well */
  maintain?(): void;
  close(): void;
}

/** How often a thread tidies up that is not asked for anything. */
const MAINTENANCE_MS = 500;

/**
 * The whole of a thread: opens what it answers from, and answers until it is told to close.
 *
 * @param open opens the SQLite file at a path; throws when that cannot be done
 */
export async function serveRequests<Request, Response>(
  open: (path: string) => Promise<RequestHandler<Request, Response>>,
): Promise<void> {
  if (!parentPort) throw new Error('not a thread');
  const port = parentPort;
  const path = workerData as string;
  const post = (answer: Answer<Response>, transfer: ArrayBuffer[] = []) => port.postMessage(answer, transfer);
  let handler: RequestHandler<Request, Response>;
  try {
    handler = await open(path);
  } catch (error) {
    post({ failure: toFailure(toNotReady(error, path)) });
    return;
  }

  const messages = on(port, 'message') as AsyncIterable<[Request | typeof CLOSE]>;
  const maintain = () => {
    try {
      handler.maintain?.();
    } catch (error) {
      // Whatever else it is shows in the next answer, too.
      if (error instanceof StoreLost) post({ lost: error.message });
    }
  };
  const maintenance = setInterval(maintain, MAINTENANCE_MS);
  port.postMessage({ response: undefined } satisfies Answer<void>);
  for await (const [request] of messages) {
    if (request === CLOSE) break;
    try {
      const response = await handler.handle(request);
      post({ response }, handler.transfer?.(response));
      maintain();
    } catch (error) {
      post(error instanceof StoreLost ? { lost: error.message } : { failure: toFailure(error) });
    }
  }
  clearInterval(maintenance);
  handler.close();
  port.close();
}

/** The modules of a built service end otherwise than their sources; a build knows imports, but no other names of modules. */
const ENDING = extname(import.meta.url);

/** A thread allocates little at a time; what it may keep unswept is memory that the process holds. */
const YOUNG_GENERATION_MB = 8;

/**
 * Some times what a batch of long books takes as text. Without it each thread may keep as much unswept as the main thread:
 * 268 MB in a container of 512 MiB, and one that long writes came to was killed there.
 */
const OLD_GENERATION_MB = 64;

const CLOSE = null;

type Answer<Response> = { readonly response: Response } | { readonly failure: Failure } | Loss;

interface Loss {
  readonly lost: string;
}

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
