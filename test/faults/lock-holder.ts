import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';

// A process that holds the write lock of an SQLite file until it gets a message.
const [, , path] = process.argv;
if (import.meta.main && path !== undefined) {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec('begin immediate');
  process.send?.('locked');
  await once(process, 'message');
  database.exec('rollback');
  process.disconnect?.();
}
