import { StoreUnavailable } from '../../../book/book-store.ts';
import { BatchQueue } from '../../batch-queue.ts';
import type { SharedWriter, WorkerProcess } from '../../engine.ts';
import { BATCH_LIMITS } from '../../limits.ts';
import { type Failure, toError, toFailure } from './thread-client.ts';
import { textLengthOf, type Writer, type WriteThread } from './write-queue.ts';
import type { Write, WriteResult } from './write-thread.ts';

/**
 * With several processes, the thread of the primary writes for all: one commit makes concurrent writes of several workers
 * durable, none waits for a lock, and the primary ends all when a commit may be lost.
 */

/** A batch of a worker, or its outcome. */
type Message = { readonly id: number } & (
  | { readonly writes: readonly Write[] }
  | { readonly results: readonly WriteResult[] }
  | { readonly failure: Failure }
);

/** In the primary: joins the batches of the workers. */
export class WriterForWorkers implements SharedWriter {
  readonly lost: Promise<string>;
  readonly #writer: WriteThread;
  readonly #queue: BatchQueue<readonly Write[], readonly WriteResult[]>;

  constructor(writer: WriteThread) {
    this.#writer = writer;
    this.lost = writer.lost;
    this.#queue = new BatchQueue((batches) => this.#perform(batches), {
      ...BATCH_LIMITS,
      name: 'write',
      // Each worker limits its own queue; a rejected batch would reject all calls of that queue.
      queueTextMax: Number.POSITIVE_INFINITY,
      textLengthOf: (writes: readonly Write[]) => writes.reduce((sum, write) => sum + textLengthOf(write), 0),
    });
  }

  addWorker(worker: WorkerProcess): void {
    worker.on('message', (message) => {
      if (!isMessage(message) || !('writes' in message)) return;
      // The worker may exit before.
      void this.#reply(message).then((reply) => worker.send(reply, () => {}));
    });
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await this.#writer.close();
  }

  async #reply({ id, writes }: { readonly id: number; readonly writes: readonly Write[] }): Promise<Message> {
    try {
      return { id, results: await this.#queue.add(writes) };
    } catch (error) {
      return { id, failure: toFailure(error) };
    }
  }

  /** Performs the first batches, the last of them perhaps in part; the queue and the worker send the rest again. */
  async #perform(batches: readonly (readonly Write[])[]): Promise<WriteResult[][]> {
    const results = await this.#writer.send(batches.flat());
    return batches.map(({ length }) => results.splice(0, length)).filter(({ length }) => length > 0);
  }
}

/** In a worker: the writer of the primary. */
export class WriterInPrimary implements Writer {
  /** While one is written, the primary has received the next one already. */
  readonly batchesMax = 2;
  readonly #pending = new Map<number, PromiseWithResolvers<readonly WriteResult[]>>();
  #lastId = 0;

  constructor() {
    process.on('message', (message) => {
      if (!isMessage(message)) return;
      const call = this.#pending.get(message.id);
      if ('results' in message) call?.resolve(message.results);
      if ('failure' in message) call?.reject(toError(message.failure));
    });
    process.once('disconnect', () => this.#fail());
  }

  async send(writes: readonly Write[]): Promise<readonly WriteResult[]> {
    const id = ++this.#lastId;
    const call = Promise.withResolvers<readonly WriteResult[]>();
    this.#pending.set(id, call);
    process.send?.({ id, writes } satisfies Message, undefined, {}, (error) => {
      if (error) this.#fail();
    });
    try {
      return await call.promise;
    } finally {
      this.#pending.delete(id);
    }
  }

  async close(): Promise<void> {}

  /** The primary has exited. */
  #fail(): void {
    for (const { reject } of this.#pending.values()) reject(new StoreUnavailable('no primary'));
  }
}

function isMessage(message: unknown): message is Message {
  if (typeof message !== 'object' || message === null) return false;
  return 'writes' in message || 'results' in message || 'failure' in message;
}
