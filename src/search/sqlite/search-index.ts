import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy, isSyncFailure, isUnusable } from '../../store/sqlite/errors.ts';
import {
  applyChanges,
  createOrders,
  type IndexState,
  prepareStatements,
  type Statements,
} from './apply-changes.ts';
import { IndexFile, UnfitIndex } from './index-file.ts';

/** The longest step of a search, which blocks other searches, and of the thread that builds the index. */
const SEARCH_STEP_MS_MAX = 20;
const BUILD_STEP_MS_MAX = 200;
/** The time in which a search updates the index; after it, the search runs without the index. */
const SEARCH_WAITS_MS = 100;
/** The pause while another process updates the index. */
const PAUSE_MS = 2;
/** The time without a step after which a thread that builds the index is presumed dead. */
const BUILDER_SILENT_MS_MAX = 3_000;
/** The most books that a search sorts to complete an index. */
const SORTED_BOOKS_MAX = 5_000;

interface State extends IndexState {
  /** The latest start of a writer that the index has seen. */
  start: number;
  token: string;
  /** When a thread has built it last, in milliseconds since 1970. */
  readonly builtAt: number;
}

interface Log {
  readonly newestId: number;
  readonly newestChange: number;
  readonly start: number;
  readonly token: string;
  readonly name: string | null;
  readonly isEarlier: number;
}

/** The index of the books in a SQLite file, which all its processes read and update. */
export class SearchIndex {
  readonly #database: DatabaseSync;
  readonly #file: IndexFile;
  #statements: Statements | undefined;
  #fault: unknown;
  #hasApplied = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#file = new IndexFile(database);
  }

  /** Has the index replaced at its next use. */
  reportFault(error: unknown): void {
    this.#fault = error;
  }

  /**
   * Begins a transaction in which the index has exactly the books of its snapshot. Missing changes are applied in it: the
   * caller commits them after it has searched, so that no other change comes in between.
   *
   * @returns `current`; otherwise there is no transaction: a thread is `building` the index, or has to, as it is `behind`
   */
  async begin(): Promise<'current' | 'building' | 'behind'> {
    const deadline = performance.now() + SEARCH_WAITS_MS;
    do {
      const { lastId, lastChange, newestId, newestChange, isComplete, builtAt } = await this.#transact(
        (statements) => this.#readState(statements),
      );
      if (isComplete && lastId === newestId && lastChange === newestChange) return 'current';
      this.#database.exec('rollback');
      if (Math.abs(Date.now() - builtAt) < BUILDER_SILENT_MS_MAX) return 'building';
      if (await this.#step(SEARCH_STEP_MS_MAX, SORTED_BOOKS_MAX, 0)) return 'current';
    } while (performance.now() < deadline);
    return 'behind';
  }

  /** Ends the transaction. */
  commit(): void {
    this.#database.exec('commit');
    if (this.#hasApplied) this.#statements?.checkpoint();
    this.#hasApplied = false;
  }

  /** Continues to build the index. @returns whether it is complete */
  async build(): Promise<boolean> {
    const isDone = await this.#step(BUILD_STEP_MS_MAX, Infinity, Date.now());
    if (isDone) this.commit();
    return isDone;
  }

  /**
   * Indexes at least one changed or new book, and more until the time is over.
   *
   * @returns whether the index is complete; then the transaction is still open
   */
  async #step(msMax: number, sortedBooksMax: number, builtAt: number): Promise<boolean> {
    const deadline = performance.now() + msMax;
    try {
      return await this.#transact((statements) => {
        // This locks the index against other writers, but not the books.
        statements.lock.run();
        const state = this.#readState(statements);
        const isDone =
          applyChanges(statements, state, deadline) &&
          (state.isComplete === 1 || this.#complete(statements, sortedBooksMax, deadline));
        const { lastId, lastChange, start, token } = state;
        const isComplete = Number(isDone || state.isComplete);
        statements.save.run(lastId, lastChange, start, token, isComplete, isDone ? 0 : builtAt);
        this.#hasApplied = true;
        if (!isDone) this.commit();
        return isDone;
      });
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Another thread or process updates it.
      await sleep(PAUSE_MS);
      return false;
    }
  }

  #complete({ isLarge }: Statements, sortedBooksMax: number, deadline: number): boolean {
    if (sortedBooksMax < Infinity && isLarge.get(sortedBooksMax)) return false;
    return createOrders(this.#database, deadline);
  }

  /** Reads the state before the log, so that it is not ahead of it in the snapshots of the two files. */
  #readState({ state, log }: Statements): State {
    const read = state.get() as State | undefined;
    if (!read) throw new UnfitIndex('without a state');
    const { lastId, lastChange, start, token } = read;
    const found = log.get({ lastId, lastChange, start, token }) as Log | undefined;
    if (!found) throw new UnfitIndex('replaced');
    const { name, isEarlier, ...newest } = found;
    const isAhead = lastId > newest.newestId || lastChange > newest.newestChange;
    if (name !== this.#file.name || !isEarlier || isAhead) throw new UnfitIndex('replaced');
    return { ...read, ...newest };
  }

  /** Runs an operation in a transaction, which it may leave open; once more after the replacement of a faulty index. */
  async #transact<Result>(operation: (statements: Statements) => Result): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        if (!this.#statements || this.#fault !== undefined) await this.#attach();
        this.#database.exec('begin');
        return operation(this.#statements as Statements);
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('rollback');
        if (!(error instanceof UnfitIndex || isUnusable(error) || isSyncFailure(error))) throw error;
        this.#fault = error;
        if (attempt > 1) throw error;
      }
    }
  }

  async #attach(): Promise<void> {
    this.#statements = undefined;
    await this.#file.attach(this.#fault);
    this.#fault = undefined;
    this.#statements = prepareStatements(this.#database);
  }
}
