import type { ArgumentsOf } from '../commands.ts';
import { copyStore } from '../copy-store.ts';

export function perform({ file }: ArgumentsOf<'restore'>): Promise<number> {
  return copyStore(async (engine, onProgress) => {
    const oldStore = await engine.restore(file, onProgress);
    const restored = `restored the store from ${file} and checked it`;
    return oldStore === undefined ? [restored] : [restored, `the old store is ${oldStore}`];
  });
}
