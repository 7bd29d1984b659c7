import { CommandError, UsageError } from '../../src/cli/exits.ts';
import { displayText } from '../book-row.ts';
import { guessByCells, looksLikeBook } from '../first-row.ts';
import { guessMapping, type Mapping, otherYearColumn, withLaterMembers } from '../mapping.ts';
import { FIELDS, type Field } from '../row.ts';
import type { Rows } from '../rows.ts';
import { describeRowError } from './row-error.ts';

/** The column of each field that `--map` names; undefined for a field that it omits. */
type NamedColumns = ReadonlyMap<Field | 'id', string | undefined>;

/** What ids are for: `keep` for a copy of a store, `update` for books that are stored. */
export type IdUse = 'keep' | 'update' | undefined;

/** A comma in a value of `--map` that is not of the name of a column. */
const SEPARATOR = new RegExp(String.raw`,(?=\s*(?:id|${FIELDS.join('|')})\s*=)`);

/**
 * Parses the values of `--map`, such as `title=original_title,year=` or `author=Author (Last, First)`: a field with nothing after
 * its `=` is omitted, but not the id. @throws UsageError
 */
export function parseMap(maps: readonly string[] = [], ids?: IdUse): NamedColumns {
  const named = new Map<Field | 'id', string | undefined>();
  for (const pair of maps.flatMap((map) => map.split(SEPARATOR))) {
    const [name = '', column] = pair.split(/=(.*)/s).map((part) => part.trim());
    const field = ['id' as const, ...FIELDS].find((candidate) => candidate === name);
    if (!field || column === undefined) {
      throw new UsageError(
        `--map must be such as title=original_title,year=, with the fields id, ${FIELDS.join(', ')}`,
      );
    }
    if (field === 'id' && !ids) throw new UsageError('--map names id, which needs --keep-ids or --update');
    if (field === 'id' && column === '') throw new UsageError('--map must name the column of id');
    if (column !== '' && [...named.values()].includes(column)) {
      throw new UsageError(`--map names the column ${column} twice`);
    }
    named.set(field, column || undefined);
  }
  return named;
}

/**
 * Chooses the columns that `--map` names, or those with known names.
 *
 * @throws CommandError for a field without one; an update needs the id and one other field
 */
export function chooseColumns(file: Rows, hasHeader: boolean, named: NamedColumns, ids: IdUse): Mapping {
  const { columns } = file;
  const isJson = file.format !== 'csv';
  if (file.first.error)
    throw new CommandError(`the first line cannot be read: ${describeRowError(file.first.error)}`);
  const isEmpty = isJson && columns.length === 0;
  const given: NamedColumns = ids ? new Map([['id', 'id'], ...named]) : named;
  const found: Partial<Record<Field | 'id', string | undefined>> = {};
  for (const [field, name] of given) {
    const mayOccurLater = isEmpty || (isJson && name === field && field !== 'id');
    found[field] =
      columns.find((column) => column === name) ??
      columns.find((column) => column.toLowerCase() === name?.toLowerCase()) ??
      (mayOccurLater ? name : undefined);
  }
  const mapping = guessMapping(isEmpty ? FIELDS : columns, found);
  const isOmitted = (field: Field | 'id') => given.has(field) && given.get(field) === undefined;
  const isMissing = (field: Field | 'id') => mapping[field] === undefined && !isOmitted(field);
  const isEnough = ids === 'update' && FIELDS.some((field) => mapping[field] !== undefined);
  const missing = [...given.keys(), ...FIELDS.filter((field) => !given.has(field) && !isEnough)].filter(
    isMissing,
  );
  if (missing.length === 0)
    return isJson && ids === 'update' ? withLaterMembers(mapping, FIELDS.filter(isOmitted)) : mapping;
  const isHeaderless = hasHeader && named.size === 0 && looksLikeBook(file.first.cells);
  throw new CommandError(
    isHeaderless ? describeHeaderless(file) : describeMissing(missing, file, hasHeader, given),
  );
}

/** In characters. */
const COLUMN_LIST_LENGTH_MAX = 1_000;

/** The first line is a book: the command that reads such a file. */
function describeHeaderless({ first: { cells } }: Rows): string {
  const columns = cells.map((_, index) => `#${index + 1}`);
  const guessed = guessByCells(columns, [{ line: 1, cells }]);
  const map = FIELDS.map((field) => `${field}=${guessed[field] ?? ''}`).join(',');
  return `the first line has no names of columns: if it is a book, add --no-header and the columns of its fields, such as --map '${map}'`;
}

function describeMissing(
  missing: readonly (Field | 'id')[],
  { columns, first }: Rows,
  hasHeader: boolean,
  given: NamedColumns,
): string {
  const labels = hasHeader
    ? columns
    : columns.map((column, index) => `${column} (${displayText(first.cells[index], 30)})`);
  const names = missing.map((field) => given.get(field) ?? field).join(', ');
  const list = displayText(labels.join(', '), COLUMN_LIST_LENGTH_MAX);
  const present = columns.length === 0 ? 'the file has no columns' : `the columns are: ${list}`;
  const [field = ''] = missing;
  const omit = field === 'id' ? '' : `, or omit it with ${field}=`;
  const isUnknown =
    hasHeader && first.cells.length > 0 && given.size === 0 && missing.length === FIELDS.length;
  const headerless = isUnknown ? '. If the first line is a book, add --no-header' : '';
  return `no column for ${names}; ${present}. Name one with --map ${field}=COLUMN${omit}${headerless}`;
}

/** Such as `title = Titel, author = Autor, year omitted`. */
export function describeColumns(columns: readonly string[], mapping: Mapping, ids: IdUse): string {
  const fields = [...(mapping.id === undefined ? [] : ['id' as const]), ...FIELDS];
  const otherYear = otherYearColumn(columns, mapping);
  const without = ids === 'update' ? 'unchanged' : 'omitted';
  return fields
    .map((field) => (mapping[field] === undefined ? `${field} ${without}` : `${field} = ${mapping[field]}`))
    .concat(otherYear === undefined ? [] : `or ${otherYear} where that is empty`)
    .join(', ');
}
