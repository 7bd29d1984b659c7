import { copyStore } from '../copy-store.ts';

/** Performs `bookkeeping restore`. @returns the exit code */
export function perform(file: string): Promise<number> {
  return copyStore(async (engine, onProgress) => {
    const oldStore = await engine.restore(file, onProgress);
    const restored = `restored the store from ${file} and checked it`;
    return oldStore === undefined ? [restored] : [restored, `the old store is ${oldStore}`];
  });
}
