import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Operation } from '../journal.ts';

const PROGRAM = join(import.meta.dirname, 'neighbour-process.ts');

/** What a neighbour can be asked to do, and what it answers. */
export type Task =
  /** Looks at all books, and again after a while in the same transaction: fails if anything has changed. */
  | { readonly verb: 'read'; readonly holdMs: number }
  /** Writes, and holds the lock for a while before the commit. Answers with the outcome of the operation. */
  | { readonly verb: 'write'; readonly operation: Operation; readonly holdMs: number }
  /** Moves what the log holds into the database. */
  | { readonly verb: 'checkpoint'; readonly mode: (typeof CHECKPOINT_MODES)[number] }
  /** Copies the database to another file, and inspects the copy. Answers with the ids in it. */
  | { readonly verb: 'back up'; readonly path: string };

/** From the one that waits for nobody to those that wait for all (sqlite.org/pragma.html#pragma_wal_checkpoint). */
export const CHECKPOINT_MODES = ['passive', 'full', 'restart', 'truncate'] as const;

/** What comes back from the process. */
export type Reply = { readonly result: unknown } | { readonly failure: string };

/** Somebody else who uses an SQLite file: a process with nothing but node:sqlite. Disposing ends it. */
export class Neighbour implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #end: Promise<never>;

  /** @param path the file, in which there is a table of books */
  constructor(path: string) {
    this.#process = fork(PROGRAM, [path]);
    this.#end = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a neighbour has ended with ${code}`);
    });
    this.#end.catch(() => {});
  }

  /** Has a task done; the next may be given when it is. @throws Error when it fails */
  async perform<Result>(task: Task): Promise<Result> {
    this.#process.send(task);
    const [reply] = (await Promise.race([once(this.#process, 'message'), this.#end])) as [Reply];
    if ('failure' in reply) throw new Error(`a neighbour fails to ${task.verb}: ${reply.failure}`);
    return reply.result as Result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await Promise.allSettled([this.#end]);
  }
}
