import { CommandError, EXIT_CODES, UsageError } from '../../src/cli/exits.ts';
import { openInput, STANDARD_STREAM } from '../../src/cli/files.ts';
import { Interruption } from '../../src/cli/interruption.ts';
import { Progress } from '../../src/cli/progress.ts';
import { loadStoreAddress } from '../../src/config/config.ts';
import { loadEngine } from '../../src/store/load-engine.ts';
import { bookReader } from '../book-row.ts';
import { ForeignFileError } from '../file-kind.ts';
import { FIELDS } from '../row.ts';
import { openRows } from '../rows.ts';
import { chooseColumns, describeColumns, parseMap } from './columns.ts';
import { parseFormat } from './format-option.ts';
import { describePosition, Importer } from './importer.ts';

/** The number of books that a dry run prints, and of changes of an update. */
const PREVIEW_BOOKS = 5;
const PREVIEW_UPDATES = 20;

interface ImportOptions {
  readonly format?: string | undefined;
  readonly map?: readonly string[] | undefined;
  readonly header: boolean;
  readonly yearUnknown?: string | undefined;
  readonly dryRun?: true | undefined;
  readonly keepIds?: true | undefined;
  readonly update?: true | undefined;
  readonly trustIds?: true | undefined;
  readonly skipExisting?: true | undefined;
  readonly strict?: true | undefined;
  readonly json?: true | undefined;
}

/** Performs `bookkeeping import`. @returns the exit code */
export async function perform(path: string, options: ImportOptions): Promise<number> {
  const {
    header: hasHeader,
    keepIds: keepsIds = false,
    update: isUpdate = false,
    dryRun: isDryRun = false,
    strict: isStrict = false,
    json: isJson,
    yearUnknown: unknownYear,
  } = options;
  const format = parseFormat(options.format);
  if (unknownYear !== undefined && unknownYear !== '0') throw new UsageError('--year-unknown must be 0');
  if (options.trustIds && !isUpdate) throw new UsageError('--trust-ids needs --update');
  if (keepsIds && isUpdate) throw new UsageError('--keep-ids is for new books, and --update for stored ones');
  const ids = isUpdate ? 'update' : keepsIds ? 'keep' : undefined;
  const named = parseMap(options.map, ids);
  const engine = await loadEngine(loadStoreAddress());

  const input = await openInput(path);
  const interruption = new Interruption();
  const { signal } = interruption;
  const rowOptions = { name: path, format, hasHeader };
  const file = await openRows(input.chunks(signal), rowOptions).catch((error: unknown) => {
    if (error instanceof ForeignFileError) throw new CommandError(describeForeignFile(path, error));
    if (!signal.aborted) throw error;
  });
  if (!file) {
    console.log('nothing is stored; interrupted');
    return interruption.exitCode ?? EXIT_CODES.interrupted;
  }
  if (!hasHeader && file.format !== 'csv') throw new UsageError('--no-header is for CSV');
  const mapping = chooseColumns(file, hasHeader, named, ids);
  const isGuessed = FIELDS.some((field) => mapping[field]?.toLowerCase() !== field && !named.has(field));
  const columns = `columns: ${describeColumns(file.columns, mapping, ids)}`;
  const hasPreview = isDryRun && !isJson;
  if (hasPreview) console.log(columns);
  else if (isGuessed) console.error(columns);

  await using archive = isDryRun ? undefined : await engine.openArchive();
  const isRead = isDryRun && (isUpdate || options.skipExisting);
  await using reading = isRead ? await engine.openArchiveForReading() : undefined;
  const stored = archive ?? reading;
  const importer = new Importer(archive, { ids, isStrict, mapping });
  let isComplete = false;
  try {
    const { counts } = importer;
    using progress = new Progress('rows', () => ({ count: counts.read, fraction: input.fractionRead() }));
    importer.onBadRow = (line) => progress.print(line);
    if (options.skipExisting && stored) await importer.skipExisting(stored, signal);
    if (isUpdate && stored) importer.update(stored, options.trustIds ?? false);
    const read = bookReader(file.columns, mapping, {
      acceptsUnreadYears: unknownYear !== undefined,
      isUpdate,
    });
    let isEncodingKnown = false;
    let previewsLeft = hasPreview && !isUpdate ? PREVIEW_BOOKS : 0;
    importer.onUpdate = (line) => {
      if (hasPreview && importer.updates.updated <= PREVIEW_UPDATES) console.log(line);
    };
    for await (const rawRows of file.rows) {
      if (!isEncodingKnown && file.encoding === 'windows-1252') {
        progress.print('the file is not UTF-8, and is read as Windows-1252: check the accented letters');
        isEncodingKnown = true;
      }
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
      if (importer.written > 0 && !isStrict) console.log(importer.summary('failed', isJson));
      throw error;
    }
    await importer.finish(false);
  }
  if (importer.unreadYears.bad > 0) {
    const year = isUpdate ? 'the year 0, or the one that is stored' : 'the year 0';
    console.error(`rows whose year cannot be read are stored, with ${year}, by --year-unknown 0`);
  }
  if (importer.similar > 0) {
    console.error(
      `${importer.similar} rows look like changed books: stored ones have their title and author. To change those, export the books, and import the corrected file with --update`,
    );
  }
  console.log(importer.summary(isComplete ? undefined : 'interrupted', isJson));
  if (!isComplete) return interruption.exitCode ?? EXIT_CODES.interrupted;
  return importer.counts.bad > 0 ? EXIT_CODES.failure : EXIT_CODES.success;
}

/** What a file is that has no table, and what to do. */
function describeForeignFile(path: string, { kind, format }: ForeignFileError): string {
  const name = path === STANDARD_STREAM ? 'standard input' : path;
  const descriptions = {
    workbook: `a workbook, ${format}: save the sheet as CSV, and import the CSV file`,
    packed: `packed, ${format}: unpack it, and import the file in it`,
    foreign: `${format}, which has no table that can be read: export the books as CSV or JSON`,
    binary: 'not a text file: export the books as CSV or JSON',
    encoding: 'neither in UTF-8 nor in Windows-1252: save it as UTF-8 (in Excel, “CSV UTF-8”)',
  };
  return `${name} is ${descriptions[kind]}`;
}
