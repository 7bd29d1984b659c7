import { BatchQueue } from '../../batch-queue.ts';
import { BATCH_LIMITS } from '../../limits.ts';
import type { StoreObserver } from '../../observer.ts';
import { toNotReady } from '../errors.ts';
import { expectWritable, makeFolderOf } from '../files/connection.ts';
import { isUndoneInThread, ThreadClient } from './thread-client.ts';
import type { Write, WriteRequest, WriteResult } from './write-thread.ts';

export type WriteThread = ThreadClient<WriteRequest, unknown>;

const WRITE_THREAD = new URL('./write-thread.ts', import.meta.url);

/** Starts the write thread. The file is created with its folder when missing. @throws StoreNotReady */
export async function startWriteThread(path: string): Promise<WriteThread> {
  try {
    makeFolderOf(path);
    expectWritable(path);
    return await ThreadClient.start(WRITE_THREAD, path);
  } catch (error) {
    throw toNotReady(error, path);
  }
}

/** The queue of the writes of a process. */
export function createWriteQueue(
  thread: Pick<WriteThread, 'send'>,
  observer: StoreObserver,
): BatchQueue<Write, WriteResult> {
  return new BatchQueue<Write, WriteResult>((writes) => thread.send(writes) as Promise<WriteResult[]>, {
    ...BATCH_LIMITS,
    name: 'write',
    isUndone: isUndoneInThread,
    observer,
  });
}
