import { type BrokenRow, broken, type Row } from './row.ts';

/** What may stand between the cells of a file, the usual one first. */
const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Reads CSV (RFC 4180), as leniently as spreadsheet programs write it: with another delimiter, with any ends of lines, with
 * quotation marks within cells that have none around them.
 *
 * @param hasHeader whether the first row has the names of the columns; otherwise they are numbered
 */
export async function* readCsvRows(
  text: AsyncIterable<string>,
  hasHeader: boolean,
): AsyncGenerator<Row | BrokenRow, void> {
  let columns: readonly string[] | undefined;
  let line = 1;
  for await (const record of recordsOf(text)) {
    if (record === UNCLOSED) {
      yield broken(line, { kind: 'unclosed-quote' }, '');
      return;
    }
    const start = line;
    line += 1 + record.reduce((lines, cell) => lines + breaksIn(cell), 0);
    if (record.every((cell) => cell === '')) continue;
    const isHeader = hasHeader && !columns;
    columns ??= distinct(hasHeader ? record : record.map(() => ''));
    if (!isHeader) yield rowOf(start, columns, record);
  }
}

function rowOf(line: number, columns: readonly string[], record: readonly string[]): Row | BrokenRow {
  const found = record.findLastIndex((cell) => cell !== '') + 1;
  if (found > columns.length || record.length < columns.length) {
    return broken(
      line,
      { kind: 'cells', found: record.length, expected: columns.length },
      record.join(' | '),
    );
  }
  return { line, columns, cells: record };
}

/** Instead of a record, where a quotation mark opens that nobody closes. */
const UNCLOSED = 'unclosed';

async function* recordsOf(text: AsyncIterable<string>): AsyncGenerator<readonly string[] | typeof UNCLOSED> {
  // It comes when it is needed, as most people who look at the catalogue do not import files.
  const { parse } = await import('csv-parse/browser/esm');
  let parser: ReturnType<typeof parse> | undefined;
  let records: (readonly string[] | typeof UNCLOSED)[] = [];
  let failure: Error | undefined;
  for await (const piece of withFirstLine(text)) {
    parser ??= parse({
      delimiter: delimiterOf(piece),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_records_with_error: true,
      on_skip: () => {
        records.push(UNCLOSED);
        return undefined;
      },
    })
      .on('data', (record: string[]) => records.push(record))
      .on('error', (error: Error) => {
        failure = error;
      });
    await new Promise((resolve) => parser?.write(piece, resolve));
    if (failure) throw failure;
    yield* records;
    records = [];
  }
  if (!parser) return;
  const ended = Promise.withResolvers<void>();
  parser.on('end', ended.resolve).on('error', ended.reject).end();
  await ended.promise;
  yield* records;
}

/** The same text, with the whole of the first line in the first piece. */
async function* withFirstLine(text: AsyncIterable<string>): AsyncGenerator<string> {
  let beginning: string | undefined = '';
  for await (const piece of text) {
    if (beginning === undefined) yield piece;
    else {
      beginning += piece;
      if (!/[^\r\n][\r\n]/.test(beginning)) continue;
      yield beginning;
      beginning = undefined;
    }
  }
  if (beginning) yield beginning;
}

/** The delimiter that is most often in the first line, outside of quotation marks. */
function delimiterOf(text: string): string {
  const [firstLine = ''] = text.trimStart().split(/[\r\n]/, 1);
  const names = firstLine.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => names.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string;
}

/** Names that occur twice are told apart by number, and those that are empty are numbered. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name, index) => {
    const wanted = name.trim() || `#${index + 1}`;
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted} (${number})`;
    taken.add(free);
    return free;
  });
}

function breaksIn(cell: string): number {
  return /[\r\n]/.test(cell) ? (cell.match(/\r\n|\n|\r/g)?.length ?? 0) : 0;
}
