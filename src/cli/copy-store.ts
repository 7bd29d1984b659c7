import { loadStoreAddress } from '../config/config.ts';
import { loadEngine } from '../store/load-engine.ts';
import type { Engine } from '../store/store-engine.ts';
import { EXIT_CODES } from './command.ts';
import { Interruption } from './interruption.ts';
import { Progress } from './progress.ts';

/**
 * Copies a store with a progress bar; SIGINT and SIGTERM stop it.
 *
 * @param copy calls `onProgress` with the fraction that is copied, from 0 to 1; returns lines for the user
 * @returns the exit code
 */
export async function copyStore(
  copy: (engine: Engine, onProgress: (fraction: number) => void) => Promise<readonly string[]>,
): Promise<number> {
  const engine = await loadEngine(loadStoreAddress());
  using interruption = new Interruption();
  let fraction = 0;
  using progress = new Progress('', () => ({ count: undefined, fraction }));
  try {
    const lines = await copy(engine, (copied) => {
      interruption.signal.throwIfAborted();
      fraction = copied;
      progress.update();
    });
    for (const line of lines) progress.print(line);
    return EXIT_CODES.success;
  } catch (error) {
    if (interruption.exitCode === undefined) throw error;
    return interruption.exitCode;
  }
}
