import { loadStoreAddress } from '../../config/config.ts';
import { loadEngine } from '../../store/load-engine.ts';
import type { ArgumentsOf } from '../commands.ts';
import { copyStore } from '../copy-store.ts';

/** Copies the store into a file. */
export async function perform({ file }: ArgumentsOf<'backup'>): Promise<number> {
  const engine = await loadEngine(loadStoreAddress());
  return copyStore(async (onProgress) => {
    await engine.backUp(file, onProgress);
    return [`copied the store to ${file} and checked the copy`];
  });
}
