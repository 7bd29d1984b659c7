import type { StoreAddress } from './address.ts';
import type { Engine, SharedWriter } from './engine.ts';

export async function loadEngine(address: StoreAddress): Promise<Engine> {
  if (address.engine === 'sqlite') return (await import('./sqlite/engine.ts')).createEngine(address.path);
  return (await import('./postgres/engine.ts')).createEngine(address.conninfo);
}

/** Opens the writer for several workers, in their primary; undefined if each worker writes for itself. @throws StoreNotReady */
export async function openSharedWriter(address: StoreAddress): Promise<SharedWriter | undefined> {
  if (address.engine !== 'sqlite') return undefined;
  const { WriterForWorkers } = await import('./sqlite/threads/shared-writer.ts');
  const { startWriteThread } = await import('./sqlite/threads/write-queue.ts');
  return new WriterForWorkers(await startWriteThread(address.path));
}
