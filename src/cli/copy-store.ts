import { loadStoreAddress } from '../config/config.ts';
import type { Engine } from '../store/engine.ts';
import { loadEngine } from '../store/load-engine.ts';
import { EXIT_CODES } from './exits.ts';
import { Interruption } from './interruption.ts';
import { Progress } from './progress.ts';

/** Runs `copy` with a progress bar until a signal ends it, and prints its lines. @returns the exit code */
export async function copyStore(
  copy: (engine: Engine, onProgress: (fraction: number) => void) => Promise<readonly string[]>,
): Promise<number> {
  const engine = await loadEngine(loadStoreAddress());
  const interruption = new Interruption();
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
