import { copyStore } from '../copy-store.ts';

export function perform(file: string): Promise<number> {
  return copyStore(async (engine, onProgress) => {
    const oldStore = await engine.restore(file, onProgress);
    const restored = `restored the store from ${file} and checked it`;
    return oldStore === undefined ? [restored] : [restored, `the old store is ${oldStore}`];
  });
}
