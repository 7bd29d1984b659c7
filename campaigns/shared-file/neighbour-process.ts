import assert from 'node:assert/strict';
import { backup, DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book/book.ts';
import type { Operation, Outcome } from '../journal.ts';
import type { Reply, Task } from './neighbour.ts';

// A process of its own that does to an SQLite file what it is told, one task after another.

const [, , path = ''] = process.argv;
// It may have to wait for long: clients without a pause leave the lock free for moments only.
const database = new DatabaseSync(path, { timeout: 60_000 });
database.exec('pragma synchronous = full');

process.on('message', (task: Task) => void answer(task));

async function answer(task: Task): Promise<void> {
  const reply = await perform(task).then(
    (result): Reply => ({ result }),
    (error: unknown): Reply => ({ failure: String(error) }),
  );
  process.send?.(reply);
}

async function perform(task: Task): Promise<unknown> {
  if (task.verb === 'read') return read(task.holdMs);
  if (task.verb === 'write') return write(task.operation, task.holdMs);
  if (task.verb === 'back up') return backUp(task.path);
  return database.exec(`pragma wal_checkpoint(${task.mode})`);
}

async function read(holdMs: number): Promise<void> {
  const extent = database.prepare(
    'select count(*) as books, sum(id) as ids, sum(year) as years, sum(octet_length(title)) as bytes from books',
  );
  database.exec('begin');
  const before = extent.get();
  await sleep(holdMs);
  assert.deepEqual(extent.get(), before);
  database.exec('commit');
}

async function write(operation: Operation, holdMs: number): Promise<Outcome> {
  database.exec('begin immediate');
  const book = change(operation) as Book | undefined;
  await sleep(holdMs);
  database.exec('commit');
  if (!book) return { is: 'absent' };
  return { is: 'done', data: operation.kind === 'delete' ? null : book };
}

/** @returns the book as it is now, or was until now; undefined where there is none */
function change(operation: Operation): unknown {
  if (operation.kind === 'create') {
    const { title, author, year } = operation.sent;
    const sql = 'insert into books (title, author, year) values (?, ?, ?) returning id, title, author, year';
    return database.prepare(sql).get(title, author, year);
  }
  if (operation.kind !== 'update')
    return database.prepare('delete from books where id = ? returning *').get(operation.id);
  const columns = Object.keys(operation.sent).map((column) => `${column} = ?`);
  const sql = `update books set ${columns.join()} where id = ? returning id, title, author, year`;
  return database.prepare(sql).get(...Object.values(operation.sent), operation.id);
}

async function backUp(copyPath: string): Promise<unknown[]> {
  // All of it in one step: whoever goes step by step begins anew at every write of others.
  await backup(database, copyPath, { rate: 1_000_000 });
  const copy = new DatabaseSync(copyPath);
  try {
    assert.equal(copy.prepare('pragma integrity_check').get()?.integrity_check, 'ok');
    return copy
      .prepare('select id from books')
      .all()
      .map(({ id }) => id);
  } finally {
    copy.close();
  }
}
