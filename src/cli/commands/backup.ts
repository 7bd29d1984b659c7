import { loadStoreAddress } from '../../config/config.ts';
import { backUpStore } from '../../store/open.ts';
import type { ArgumentsOf } from '../commands.ts';
import { copyStore } from '../copy-store.ts';

/** Copies the store into a file. */
export function perform({ file }: ArgumentsOf<'backup'>): Promise<number> {
  const address = loadStoreAddress();
  return copyStore(async (onProgress) => {
    await backUpStore(address, file, onProgress);
    return [`copied the store to ${file} and checked the copy`];
  });
}
