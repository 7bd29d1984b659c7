import { loadStoreAddress } from '../../config/config.ts';
import { restoreStore } from '../../store/open.ts';
import type { ArgumentsOf } from '../commands.ts';
import { copyStore } from '../copy-store.ts';

/** Replaces the store with a backup. */
export function perform({ file }: ArgumentsOf<'restore'>): Promise<number> {
  const address = loadStoreAddress();
  return copyStore(async (onProgress) => {
    const oldStore = await restoreStore(address, file, onProgress);
    return [
      `restored the store from ${file} and checked it`,
      ...(oldStore === undefined ? [] : [`the old store is ${oldStore}`]),
    ];
  });
}
