import { BatchQueue } from '../../batch-queue.ts';
import { BATCH_LIMITS } from '../../limits.ts';
import type { StoreObserver } from '../../observer.ts';
import { toNotReady } from '../errors.ts';
import { expectWritable, makeFolderOf } from '../files/connection.ts';
import type { Loss } from '../files/file-guard.ts';
import { isUndoneInThread, ThreadClient } from './thread-client.ts';
import type { Write, WriteResult } from './write-thread.ts';

export type WriteThread = ThreadClient<readonly Write[], WriteResult[]>;

const WRITE_THREAD = new URL('./write-thread.ts', import.meta.url);

/** Starts the write thread. The file is created with its folder when missing. @throws StoreNotReady */
export async function startWriteThread(path: string, loss: Loss): Promise<WriteThread> {
  try {
    makeFolderOf(path);
    expectWritable(path);
    return await ThreadClient.start(WRITE_THREAD, path, loss);
  } catch (error) {
    throw toNotReady(error, path);
  }
}

/** The queue of the writes of a process. */
export function createWriteQueue(
  writer: Pick<WriteThread, 'send'>,
  observer: StoreObserver,
): BatchQueue<Write, WriteResult> {
  return new BatchQueue<Write, WriteResult>((writes) => writer.send(writes), {
    ...BATCH_LIMITS,
    name: 'write',
    isUndone: isUndoneInThread,
    observer,
  });
}
