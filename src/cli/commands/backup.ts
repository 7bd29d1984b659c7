import { copyStore } from '../copy-store.ts';

/** Performs `bookkeeping backup`. @returns the exit code */
export function perform(file: string): Promise<number> {
  return copyStore(async (engine, onProgress) => {
    await engine.backUp(file, onProgress);
    return [`copied the store to ${file} and checked the copy`];
  });
}
