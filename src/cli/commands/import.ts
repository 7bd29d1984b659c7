import { loadStoreAddress } from '../../config/config.ts';
import { bookReader } from '../../formats/book-row.ts';
import { FIELDS } from '../../formats/row.ts';
import { openRows } from '../../formats/rows.ts';
import { loadEngine } from '../../store/load-engine.ts';
import { EXIT_CODES } from '../command.ts';
import type { ArgumentsOf } from '../commands.ts';
import { formatOf, openInput } from '../files.ts';
import { chooseColumns, describeColumns, parseMap } from '../import/columns.ts';
import { describePosition, Importer } from '../import/importer.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../progress.ts';

/** The number of books that a dry run prints. */
const PREVIEW_BOOKS = 5;

export async function perform({ file: path, options }: ArgumentsOf<'import'>): Promise<number> {
  const {
    'keep-ids': keepsIds = false,
    'dry-run': isDryRun = false,
    strict: isStrict = false,
    json: isJson,
  } = options;
  const format = formatOf(path, options.format);
  const named = parseMap(options.map, keepsIds);
  const engine = await loadEngine(loadStoreAddress());

  const input = await openInput(path);
  const interruption = new Interruption();
  const { signal } = interruption;
  const file = await openRows(format, input.chunks(signal)).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!file) {
    console.log('nothing is stored; interrupted');
    return interruption.exitCode ?? EXIT_CODES.interrupted;
  }
  const mapping = chooseColumns(file.columns, format !== 'csv', named, keepsIds);
  const isGuessed = FIELDS.some((field) => mapping[field]?.toLowerCase() !== field && !named.has(field));
  if (isDryRun && !isJson) console.log(`columns: ${describeColumns(file.columns, mapping)}`);
  else if (isGuessed) console.error(`columns: ${describeColumns(file.columns, mapping)}`);

  await using archive = isDryRun ? undefined : await engine.openArchive();
  const importer = new Importer(archive, { keepsIds, isStrict, mapping });
  let isComplete = false;
  try {
    const { counts } = importer;
    using progress = new Progress('rows', () => ({ count: counts.read, fraction: input.fractionRead() }));
    importer.onBadRow = (line) => progress.print(line);
    if (options['skip-existing']) {
      await using existing = isDryRun ? await engine.openArchiveForReading() : undefined;
      const books = existing ?? archive;
      if (books) await importer.skipExisting(books, signal);
    }
    const read = bookReader(file.columns, mapping);
    let previewsLeft = isDryRun && !isJson ? PREVIEW_BOOKS : 0;
    for await (const rawRows of file.rows) {
      const rows = rawRows.map(read);
      for (const row of previewsLeft > 0 ? rows : []) {
        if (previewsLeft === 0 || !('book' in row)) continue;
        console.log(`${describePosition(row)}: ${JSON.stringify(row.book)}`);
        previewsLeft--;
      }
      await importer.add(rows);
      progress.update();
      if (importer.hasFailed || signal.aborted) break;
    }
    isComplete = !signal.aborted;
    await importer.finish(isComplete);
  } catch (error) {
    if (!signal.aborted || isComplete) {
      if (importer.counts.stored > 0 && !isStrict) console.log(importer.summary('failed', isJson));
      throw error;
    }
    await importer.finish(false);
  }
  console.log(importer.summary(isComplete ? undefined : 'interrupted', isJson));
  if (!isComplete) return interruption.exitCode ?? EXIT_CODES.interrupted;
  return importer.counts.bad > 0 ? EXIT_CODES.failure : EXIT_CODES.success;
}
