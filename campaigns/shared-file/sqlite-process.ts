import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { backup, DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book/book.ts';
import type { Operation, Outcome } from '../journal.ts';

/** A task of the process, and its result. */
type Task =
  /** Reads all books twice in one transaction, and fails if they differ. */
  | { readonly verb: 'read'; readonly holdMs: number }
  /** Writes, and holds the lock for a while before the commit. Returns the outcome of the operation. */
  | { readonly verb: 'write'; readonly operation: Operation; readonly holdMs: number }
  /** Moves the log into the database. */
  | { readonly verb: 'checkpoint'; readonly mode: (typeof CHECKPOINT_MODES)[number] }
  /** Copies the database to another file, and checks the copy. Returns the ids in it. */
  | { readonly verb: 'back up'; readonly path: string };

/** The modes of a checkpoint, from the one that never waits to those that wait for all (sqlite.org/pragma.html). */
export const CHECKPOINT_MODES = ['passive', 'full', 'restart', 'truncate'] as const;

type Reply = { readonly result: unknown } | { readonly failure: string };

/** A process that uses a SQLite file by node:sqlite alone. Disposing kills it. */
export class SqliteProcess implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exited: Promise<never>;

  /** @param path the file, which has a table of books */
  constructor(path: string) {
    this.#process = fork(import.meta.filename, [path]);
    this.#exited = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a process of SQLite has exited with ${code}`);
    });
    this.#exited.catch(() => {});
  }

  /** Performs a task, one at a time. @throws Error when it fails */
  async perform<Result>(task: Task): Promise<Result> {
    this.#process.send(task);
    const [reply] = (await Promise.race([once(this.#process, 'message'), this.#exited])) as [Reply];
    if ('failure' in reply) throw new Error(`a process of SQLite fails to ${task.verb}: ${reply.failure}`);
    return reply.result as Result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await Promise.allSettled([this.#exited]);
  }
}

async function perform(database: DatabaseSync, task: Task): Promise<unknown> {
  if (task.verb === 'read') return read(database, task.holdMs);
  if (task.verb === 'write') return write(database, task.operation, task.holdMs);
  if (task.verb === 'back up') return backUp(database, task.path);
  return database.exec(`pragma wal_checkpoint(${task.mode})`);
}

async function read(database: DatabaseSync, holdMs: number): Promise<void> {
  const extent = database.prepare(
    'select count(*) as books, sum(id) as ids, sum(year) as years, sum(octet_length(title)) as bytes from books',
  );
  database.exec('begin');
  const before = extent.get();
  await sleep(holdMs);
  assert.deepEqual(extent.get(), before);
  database.exec('commit');
}

async function write(database: DatabaseSync, operation: Operation, holdMs: number): Promise<Outcome> {
  database.exec('begin immediate');
  const book = change(database, operation) as Book | undefined;
  await sleep(holdMs);
  database.exec('commit');
  if (!book) return { is: 'absent' };
  return { is: 'done', data: operation.kind === 'delete' ? null : book };
}

/** @returns the new, changed or deleted book; undefined when there is none */
function change(database: DatabaseSync, operation: Operation): unknown {
  const returning = 'returning id, title, author, year';
  if (operation.kind === 'create') {
    const { title, author, year } = operation.sent;
    const sql = `insert into books (title, author, year) values (?, ?, ?) ${returning}`;
    return database.prepare(sql).get(title, author, year);
  }
  if (operation.kind !== 'update')
    return database.prepare(`delete from books where id = ? ${returning}`).get(operation.id);
  const columns = Object.keys(operation.sent).map((column) => `${column} = ?`);
  const sql = `update books set ${columns.join()} where id = ? ${returning}`;
  return database.prepare(sql).get(...Object.values(operation.sent), operation.id);
}

async function backUp(database: DatabaseSync, copyPath: string): Promise<unknown[]> {
  // In one step: a backup in several steps restarts at every write of another process.
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

if (import.meta.main) {
  // The lock may be busy for long: clients that never pause release it only for moments.
  const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 60_000 });
  database.exec('pragma synchronous = full');
  process.on('message', (task: Task) => {
    perform(database, task).then(
      (result) => process.send?.({ result } satisfies Reply),
      (error: unknown) => process.send?.({ failure: String(error) } satisfies Reply),
    );
  });
}
