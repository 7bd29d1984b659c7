import { restoreStore } from '../../store/open.ts';
import type { Given } from '../command.ts';
import { EXIT_CODES } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../progress.ts';
import { loadStoreAddress } from '../store-address.ts';

/** Puts a backup in the place of the store. */
export async function perform({ operands }: Given): Promise<number> {
  const [file = ''] = operands;
  const address = loadStoreAddress();
  using interruption = new Interruption();
  let part = 0;
  using progress = new Progress('', () => ({ count: undefined, part }));
  try {
    const kept = await restoreStore(address, file, (done) => {
      interruption.signal.throwIfAborted();
      part = done;
      progress.update();
    });
    progress.print(`restored the store from ${file}, and checked it`);
    if (kept !== undefined) progress.print(`the store that was there before is ${kept}`);
  } catch (error) {
    if (interruption.exitCode === undefined) throw error;
    return interruption.exitCode;
  }
  return EXIT_CODES.success;
}
