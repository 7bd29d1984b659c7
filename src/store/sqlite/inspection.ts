import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { COUNTED_MAX, describeMarked, formatBookCount, isMark } from '../inspection.ts';
import { columnsOfBooks, expectBooks } from './books-table.ts';
import { toNotReady } from './errors.ts';
import { expectWritable } from './files/permissions.ts';
import { whileBusy } from './files/transactions.ts';
import { isInSchema, readVersion } from './migrations.ts';

/** See `Engine.inspect`. It opens the file for reading only. */
export async function inspectStore(path: string): Promise<string> {
  try {
    if (!existsSync(path)) {
      accessSync(nearestExistingFolder(path), constants.W_OK);
      return `the SQLite file ${path} does not exist yet and will be created`;
    }
    expectWritable(path);
    using database = new DatabaseSync(path, { readOnly: true });
    return await whileBusy(() => describe(database, path));
  } catch (error) {
    throw toNotReady(error, path);
  }
}

function describe(database: DatabaseSync, path: string): string {
  readVersion(database);
  if (!isInSchema(database, 'books'))
    return `the SQLite file ${path} has no table books yet; it will be created`;
  expectBooks(database);
  const count = (condition: string) => {
    const rows = `select 1 from books where ${condition} limit ${COUNTED_MAX + 1}`;
    return Number(database.prepare(`select count(*) as count from (${rows})`).get()?.count);
  };
  const marks = columnsOfBooks(database)
    .map(({ name }) => name)
    .filter(isMark);
  const marked = marks.flatMap((mark) => describeMarked(mark, count(`${mark} is not null`)));
  return [`the SQLite file ${path} has ${formatBookCount(count('true'))}`, ...marked].join('; ');
}

function nearestExistingFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestExistingFolder(folder);
}
