import { openArchive } from '../store/open.ts';
import type { Given } from './command.ts';
import { EXIT_CODES } from './exit.ts';
import { formatOf } from './format.ts';
import { readColumns } from './import/columns.ts';
import { Loading } from './import/loading.ts';
import { readRows } from './import/rows.ts';
import { Source } from './import/source.ts';
import { Interruption } from './interruption.ts';
import { Progress } from './progress.ts';
import { loadStoreAddress } from './store-address.ts';

/** Stores the books of a file. */
export async function perform({ options, operands }: Given): Promise<number> {
  const [path = ''] = operands;
  const keepsIds = options['keep-ids'] === true;
  const isStrict = options.strict === true;
  const format = formatOf(path, options.format as string | undefined);
  const columns = readColumns(options.map as string | undefined, keepsIds);
  const address = loadStoreAddress();

  const source = await Source.open(path);
  await using archive = await openArchive(address);
  using interruption = new Interruption();
  const { signal } = interruption;
  const loading = new Loading(archive, { keepsIds, isStrict });
  let isComplete = false;
  try {
    using progress = new Progress('rows', () => ({ count: loading.tally.read, part: source.partRead }));
    loading.onFault = (line) => progress.print(line);
    if (options['skip-existing']) await loading.skipExisting(signal);
    for await (const rows of readRows(format, source.chunks(signal), columns)) {
      await loading.load(rows);
      progress.update();
      if (loading.isOver || signal.aborted) break;
    }
    isComplete = !signal.aborted;
    await loading.end(isComplete);
  } catch (error) {
    if (!signal.aborted || isComplete) {
      if (loading.tally.stored > 0 && !isStrict) console.log(loading.summary('failed'));
      throw error;
    }
    await loading.end(false);
  }
  console.log(loading.summary(isComplete ? undefined : 'interrupted'));
  if (!isComplete) return interruption.exitCode ?? EXIT_CODES.interrupted;
  return loading.tally.bad > 0 ? EXIT_CODES.failure : EXIT_CODES.success;
}
