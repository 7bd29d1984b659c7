import { loadStoreAddress } from '../../config/config.ts';
import { loadEngine } from '../../store/load-engine.ts';
import type { ArgumentsOf } from '../commands.ts';
import { copyStore } from '../copy-store.ts';

/** Replaces the store with a backup. */
export async function perform({ file }: ArgumentsOf<'restore'>): Promise<number> {
  const engine = await loadEngine(loadStoreAddress());
  return copyStore(async (onProgress) => {
    const oldStore = await engine.restore(file, onProgress);
    return [
      `restored the store from ${file} and checked it`,
      ...(oldStore === undefined ? [] : [`the old store is ${oldStore}`]),
    ];
  });
}
