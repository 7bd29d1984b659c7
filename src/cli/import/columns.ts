import { displayText } from '../../formats/book-row.ts';
import { guessMapping, type Mapping, otherYearColumn } from '../../formats/mapping.ts';
import { FIELDS, type Field } from '../../formats/row.ts';
import { CommandError, UsageError } from '../command.ts';

/** The column of each field that `--map` names; undefined for a field that it omits. */
type NamedColumns = ReadonlyMap<Field | 'id', string | undefined>;

/** Parses `--map`, such as `title=original_title,year=`: a field with nothing after its `=` is omitted. @throws UsageError */
export function parseMap(map: string | undefined, keepsIds: boolean): NamedColumns {
  const named = new Map<Field | 'id', string | undefined>();
  for (const pair of map?.split(',') ?? []) {
    const [name = '', column] = pair.split(/=(.*)/s).map((part) => part.trim());
    const field = ['id' as const, ...FIELDS].find((candidate) => candidate === name);
    if (!field || column === undefined) {
      throw new UsageError(
        '--map must be such as title=original_title,year=, with the fields id, title, author, year',
      );
    }
    if (field === 'id' && !keepsIds) throw new UsageError('--map names id, which needs --keep-ids');
    if (column !== '' && [...named.values()].includes(column)) {
      throw new UsageError(`--map names the column ${column} twice`);
    }
    named.set(field, column || undefined);
  }
  return named;
}

/** Chooses the columns that `--map` names, or those with likely names. @throws CommandError for a field without one */
export function chooseColumns(
  columns: readonly string[],
  isJson: boolean,
  named: NamedColumns,
  keepsIds: boolean,
): Mapping {
  const isEmpty = isJson && columns.length === 0;
  const given: NamedColumns = keepsIds ? new Map([['id', 'id'], ...named]) : named;
  const found: Partial<Record<Field | 'id', string | undefined>> = {};
  for (const [field, name] of given) {
    const mayOccurLater = isEmpty || (isJson && name === field && field !== 'id');
    found[field] =
      columns.find((column) => column === name) ??
      columns.find((column) => column.toLowerCase() === name?.toLowerCase()) ??
      (mayOccurLater ? name : undefined);
  }
  const mapping = guessMapping(isEmpty ? FIELDS : columns, found);
  const isMissing = (field: Field | 'id') =>
    mapping[field] === undefined && !(given.has(field) && given.get(field) === undefined);
  const missing = [...given.keys(), ...FIELDS.filter((field) => !given.has(field))].filter(isMissing);
  if (missing.length > 0) throw new CommandError(describeMissing(missing, columns, given));
  return mapping;
}

/** In characters. */
const COLUMN_LIST_LENGTH_MAX = 1_000;

function describeMissing(
  missing: readonly (Field | 'id')[],
  columns: readonly string[],
  given: NamedColumns,
): string {
  const names = missing.map((field) => given.get(field) ?? field).join(', ');
  const list = displayText(columns.join(', '), COLUMN_LIST_LENGTH_MAX);
  const present = columns.length === 0 ? 'the file has no columns' : `the columns are: ${list}`;
  const [field = ''] = missing;
  const omit = field === 'id' ? '' : `, or omit it with ${field}=`;
  return `no column for ${names}; ${present}. Name one with --map ${field}=COLUMN${omit}`;
}

/** Such as `title = Titel, author = Autor, year omitted`. */
export function describeColumns(columns: readonly string[], mapping: Mapping): string {
  const fields = [...(mapping.id === undefined ? [] : ['id' as const]), ...FIELDS];
  const otherYear = otherYearColumn(columns, mapping);
  return fields
    .map((field) => (mapping[field] === undefined ? `${field} omitted` : `${field} = ${mapping[field]}`))
    .concat(otherYear === undefined ? [] : `or ${otherYear} where that is empty`)
    .join(', ');
}
