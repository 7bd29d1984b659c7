import { backUpStore } from '../../store/open.ts';
import type { Given } from '../command.ts';
import { EXIT_CODES } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../progress.ts';
import { loadStoreAddress } from '../store-address.ts';

/** Copies the store into a file. */
export async function perform({ operands }: Given): Promise<number> {
  const [file = ''] = operands;
  const address = loadStoreAddress();
  using interruption = new Interruption();
  let part = 0;
  using progress = new Progress('', () => ({ count: undefined, part }));
  try {
    await backUpStore(address, file, (done) => {
      interruption.signal.throwIfAborted();
      part = done;
      progress.update();
    });
  } catch (error) {
    if (interruption.exitCode === undefined) throw error;
    return interruption.exitCode;
  }
  progress.print(`copied the store to ${file} and checked the copy`);
  return EXIT_CODES.success;
}
