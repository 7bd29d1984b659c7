import { guessMapping, type Mapping } from '../../formats/mapping.ts';
import { FIELDS, type Field } from '../../formats/row.ts';
import { UsageError } from '../arguments.ts';
import { CommandFailed } from '../exit.ts';

/** What `--map` says: the column of a field, or undefined for a field that is left out on purpose. */
export type GivenColumns = ReadonlyMap<Field | 'id', string | undefined>;

/**
 * Reads `--map`, such as `title=original_title,year=`: a field with nothing after its `=` is left out.
 *
 * @param withIds whether ids are read
 * @throws UsageError
 */
export function readMap(map: string | undefined, withIds: boolean): GivenColumns {
  const given = new Map<Field | 'id', string | undefined>();
  for (const pair of map?.split(',') ?? []) {
    const [name = '', column] = pair.split(/=(.*)/s).map((part) => part.trim());
    const field = ['id' as const, ...FIELDS].find((candidate) => candidate === name);
    if (!field || column === undefined) {
      throw new UsageError('--map must be like title=original_title,year=, of id, title, author, year');
    }
    if (field === 'id' && !withIds)
      throw new UsageError('--map names id, which is read with --keep-ids only');
    if (column !== '' && [...given.values()].includes(column)) {
      throw new UsageError(`--map gives two fields the column ${column}`);
    }
    given.set(field, column || undefined);
  }
  return given;
}

/**
 * Chooses the column of each field: what `--map` says, or else what the names of the columns suggest.
 *
 * @param columns those of the file; members of JSON that only come later are missing
 * @throws CommandFailed when a field has no column, and was not left out on purpose
 */
export function chooseColumns(
  columns: readonly string[],
  isJson: boolean,
  given: GivenColumns,
  withIds: boolean,
): Mapping {
  // JSON without objects has no members that could be missing.
  const isEmpty = isJson && columns.length === 0;
  const chosen: Partial<Record<Field | 'id', string | undefined>> = {};
  const missing: string[] = [];
  if (withIds && !given.has('id')) given = new Map([...given, ['id', 'id']]);
  for (const [field, name] of given) {
    const mayComeLater = isEmpty || (isJson && name === field && field !== 'id');
    chosen[field] = findColumn(columns, name) ?? (mayComeLater ? name : undefined);
    if (name !== undefined && chosen[field] === undefined) missing.push(field);
  }
  const mapping = guessMapping(isEmpty ? FIELDS : columns, chosen);
  missing.push(...FIELDS.filter((field) => !given.has(field) && mapping[field] === undefined));
  if (missing.length > 0) throw new CommandFailed(explainMissing(missing, columns, given));
  return mapping;
}

function findColumn(columns: readonly string[], name = ''): string | undefined {
  if (columns.includes(name)) return name;
  return columns.find((column) => column.toLowerCase() === name.toLowerCase());
}

/** The most of the names of columns that are listed. */
const LISTED_LENGTH_MAX = 1_000;

function explainMissing(missing: readonly string[], columns: readonly string[], given: GivenColumns): string {
  const wanted = missing.map((field) => given.get(field as Field) ?? field).join(', ');
  const list = columns.join(', ');
  const listed = list.length > LISTED_LENGTH_MAX ? `${list.slice(0, LISTED_LENGTH_MAX)}…` : list;
  const there = columns.length === 0 ? 'the file has no columns' : `the columns are: ${listed}`;
  const [field = ''] = missing;
  const leaveOut = field === 'id' ? '' : `, or leave it out with ${field}=`;
  return `no column for ${wanted}; ${there}. Name one with --map ${field}=COLUMN${leaveOut}`;
}

/** The columns of the fields, in words: `title = Titel, author = Autor, year left out`. */
export function describeColumns(mapping: Mapping): string {
  const fields = [...(mapping.id === undefined ? [] : ['id' as const]), ...FIELDS];
  return fields
    .map((field) => (mapping[field] === undefined ? `${field} left out` : `${field} = ${mapping[field]}`))
    .join(', ');
}
