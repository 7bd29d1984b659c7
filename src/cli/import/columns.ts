import { guessMapping, type Mapping } from '../../formats/mapping.ts';
import { FIELDS, type Field } from '../../formats/row.ts';
import { CommandError, UsageError } from '../command.ts';

/** The column of each field that `--map` names; undefined for a field that it omits. */
export type ChosenColumns = ReadonlyMap<Field | 'id', string | undefined>;

/**
 * Parses `--map`, such as `title=original_title,year=`: a field with nothing after its `=` is omitted.
 *
 * @throws UsageError
 */
export function parseMap(map: string | undefined, keepsIds: boolean): ChosenColumns {
  const chosen = new Map<Field | 'id', string | undefined>();
  for (const pair of map?.split(',') ?? []) {
    const [name = '', column] = pair.split(/=(.*)/s).map((part) => part.trim());
    const field = ['id' as const, ...FIELDS].find((candidate) => candidate === name);
    if (!field || column === undefined) {
      throw new UsageError(
        '--map must be such as title=original_title,year=, with the fields id, title, author, year',
      );
    }
    if (field === 'id' && !keepsIds) throw new UsageError('--map names id, which needs --keep-ids');
    if (column !== '' && [...chosen.values()].includes(column)) {
      throw new UsageError(`--map names the column ${column} twice`);
    }
    chosen.set(field, column || undefined);
  }
  return chosen;
}

/**
 * Chooses the column of each field: the one that `--map` names, or else one with a likely name.
 *
 * @param columns those of the file, without JSON members that only come later
 * @throws CommandError when a field has no column and `--map` does not omit it
 */
export function chooseColumns(
  columns: readonly string[],
  isJson: boolean,
  chosen: ChosenColumns,
  keepsIds: boolean,
): Mapping {
  const isEmpty = isJson && columns.length === 0;
  const found: Partial<Record<Field | 'id', string | undefined>> = {};
  const missing: string[] = [];
  const wanted: ChosenColumns = keepsIds ? new Map([['id', 'id'], ...chosen]) : chosen;
  for (const [field, name] of wanted) {
    const mayComeLater = isEmpty || (isJson && name === field && field !== 'id');
    found[field] = findColumn(columns, name) ?? (mayComeLater ? name : undefined);
    if (name !== undefined && found[field] === undefined) missing.push(field);
  }
  const mapping = guessMapping(isEmpty ? FIELDS : columns, found);
  missing.push(...FIELDS.filter((field) => !wanted.has(field) && mapping[field] === undefined));
  if (missing.length > 0) throw new CommandError(describeMissing(missing, columns, wanted));
  return mapping;
}

function findColumn(columns: readonly string[], name = ''): string | undefined {
  if (columns.includes(name)) return name;
  return columns.find((column) => column.toLowerCase() === name.toLowerCase());
}

/** In characters. */
const COLUMN_LIST_LENGTH_MAX = 1_000;

function describeMissing(
  missing: readonly string[],
  columns: readonly string[],
  wanted: ChosenColumns,
): string {
  const names = missing.map((field) => wanted.get(field as Field) ?? field).join(', ');
  const list = columns.join(', ');
  const listed = list.length > COLUMN_LIST_LENGTH_MAX ? `${list.slice(0, COLUMN_LIST_LENGTH_MAX)}…` : list;
  const present = columns.length === 0 ? 'the file has no columns' : `the columns are: ${listed}`;
  const [field = ''] = missing;
  const omit = field === 'id' ? '' : `, or omit it with ${field}=`;
  return `no column for ${names}; ${present}. Name one with --map ${field}=COLUMN${omit}`;
}

/** Such as `title = Titel, author = Autor, year omitted`. */
export function describeColumns(mapping: Mapping): string {
  const fields = [...(mapping.id === undefined ? [] : ['id' as const]), ...FIELDS];
  return fields
    .map((field) => (mapping[field] === undefined ? `${field} omitted` : `${field} = ${mapping[field]}`))
    .join(', ');
}
