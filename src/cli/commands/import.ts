import { type BookRow, bookReader } from '../../formats/book-row.ts';
import { openRows } from '../../formats/rows.ts';
import { openArchive, openArchiveForReading } from '../../store/open.ts';
import type { Given } from '../command.ts';
import { EXIT_CODES } from '../exit.ts';
import { formatOf } from '../files/format.ts';
import { chooseColumns, describeColumns, readMap } from '../import/columns.ts';
import { Loading, placeOf } from '../import/importer.ts';
import { Source } from '../files/input-file.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../progress.ts';
import { loadStoreAddress } from '../store-address.ts';

/** How many books a dry run shows. */
const SHOWN_BOOKS = 5;

/** Stores the books of a file. */
export async function perform({ options, operands }: Given): Promise<number> {
  const [path = ''] = operands;
  const keepsIds = options['keep-ids'] === true;
  const isStrict = options.strict === true;
  const isDryRun = options['dry-run'] === true;
  const skipsExisting = options['skip-existing'] === true;
  const format = formatOf(path, options.format as string | undefined);
  const given = readMap(options.map as string | undefined, keepsIds);
  const address = loadStoreAddress();

  const source = await Source.open(path);
  using interruption = new Interruption();
  const { signal } = interruption;
  const file = await openRows(format, source.chunks(signal)).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!file) {
    console.log('nothing is stored; interrupted');
    return interruption.exitCode ?? EXIT_CODES.interrupted;
  }
  const mapping = chooseColumns(file.columns, format !== 'csv', given, keepsIds);
  const isGuessed = Object.entries(mapping).some(
    ([field, column]) => column?.toLowerCase() !== field && !given.has(field as keyof typeof mapping),
  );
  if (isDryRun) console.log(`columns: ${describeColumns(mapping)}`);
  else if (isGuessed) console.error(`columns: ${describeColumns(mapping)}`);

  await using archive = isDryRun ? undefined : await openArchive(address);
  const loading = new Loading(archive, { keepsIds, isStrict, mapping });
  let isComplete = false;
  try {
    using progress = new Progress('rows', () => ({ count: loading.tally.read, part: source.partRead }));
    loading.onFault = (line) => progress.print(line);
    if (skipsExisting) {
      await using existing = isDryRun ? await openArchiveForReading(address) : undefined;
      const books = existing ?? archive;
      if (books) await loading.skipExisting(books, signal);
    }
    const read = bookReader(file.columns, mapping);
    let unshown = isDryRun ? SHOWN_BOOKS : 0;
    for await (const some of file.rows) {
      const rows = some.map(read);
      for (const row of unshown > 0 ? rows : []) if (unshown > 0 && show(row)) unshown--;
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

/** Prints a row that is a book. @returns whether it is one */
function show(row: BookRow): boolean {
  if ('book' in row) console.log(`${placeOf(row)}: ${JSON.stringify(row.book)}`);
  return 'book' in row;
}
