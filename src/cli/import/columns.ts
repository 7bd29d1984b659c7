import { UsageError } from '../arguments.ts';

/** What a row can have. */
export type Field = 'id' | 'title' | 'author' | 'year';

const FIELDS: readonly Field[] = ['id', 'title', 'author', 'year'];

/** Where the fields of a book are found: in columns, or members of an object, of these names. */
export type Columns = ReadonlyMap<Field, string>;

/**
 * Reads `--map`: `title=original_title,author=authors`. A field that it does not name has the column of its own name; one
 * with nothing behind the `=` has none.
 *
 * @param withIds whether ids are read
 * @throws UsageError
 */
export function readColumns(map: string | undefined, withIds: boolean): Columns {
  const columns = new Map<Field, string>();
  for (const field of FIELDS) if (field !== 'id' || withIds) columns.set(field, field);
  for (const pair of map?.split(',') ?? []) {
    const [name = '', column] = pair.split(/=(.*)/s).map((part) => part.trim());
    const field = FIELDS.find((candidate) => candidate === name);
    if (!field || column === undefined) {
      throw new UsageError(`--map must be like title=original_title,author=authors, of ${FIELDS.join(', ')}`);
    }
    if (field === 'id' && !withIds)
      throw new UsageError('--map names id, which is read with --keep-ids only');
    if (column === '') columns.delete(field);
    else columns.set(field, column);
  }
  const names = [...columns.values()];
  const twice = names.find((column, index) => names.indexOf(column) !== index);
  if (twice !== undefined) {
    throw new UsageError(
      `--map gives two fields the column ${twice}; a field without a column is written as year=`,
    );
  }
  return columns;
}
