import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newFields } from '../clients.ts';
import { createdId, type Journal, type Operation, type Outcome } from '../journal.ts';
import { Loops } from '../loops.ts';
import type { Random } from '../random.ts';
import { CHECKPOINT_MODES, SqliteProcess } from './sqlite-process.ts';

/** The longest duration of a transaction that reads, and of one that writes. */
const READ_MS_MAX = 1_000;
const WRITE_MS_MAX = 50;

/** The longest pause between two writes, and between a checkpoint and a backup. */
const WRITE_PAUSE_MS_MAX = 200;
const BACKUP_PAUSE_MS_MAX = 1_000;

/** A backup, and how many calls the journal had when it began. */
interface Backup {
  readonly callsBefore: number;
  readonly ids: ReadonlySet<number>;
}

/** Other programs on the store, each a process: one reads, one writes, one checkpoints and backs up. */
export class OtherPrograms {
  readonly counts = { 'long reads': 0, 'writes of others': 0, checkpoints: 0, backups: 0 };
  readonly #path: string;
  readonly #journal: Journal;
  readonly #random: Random;
  readonly #backups: Backup[] = [];
  readonly #loops: Loops;

  /** @param path the SQLite file; @param journal records their writes; @param shared ids that they change, too */
  constructor(path: string, journal: Journal, shared: readonly number[], random: Random) {
    this.#path = path;
    this.#journal = journal;
    this.#random = random;
    const ids = [...shared];
    this.#loops = new Loops([
      (signal) => this.#read(signal),
      (signal) => this.#write(signal, ids),
      (signal) => this.#backUp(signal),
    ]);
  }

  /** Resolves when all have ended. @throws Error when one has failed */
  stop(): Promise<void> {
    return this.#loops.stop();
  }

  /** Asserts that each backup has the books that were acknowledged before it, after all clients have ended. */
  assertBackupsComplete(): void {
    const { calls } = this.#journal;
    const deleted = new Set(calls.flatMap((call) => (call.kind === 'delete' ? [call.id] : [])));
    for (const { callsBefore, ids } of this.#backups) {
      const created = calls.slice(0, callsBefore).flatMap((call) => createdId(call, call.outcome) ?? []);
      const missing = new Set(created).difference(deleted).difference(ids);
      assert.deepEqual([...missing], [], 'acknowledged, and not in a backup that began later');
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    await using program = new SqliteProcess(this.#path);
    while (!signal.aborted) {
      await program.perform({ verb: 'read', holdMs: this.#random.below(READ_MS_MAX) });
      this.counts['long reads']++;
    }
  }

  async #write(signal: AbortSignal, ids: number[]): Promise<void> {
    await using program = new SqliteProcess(this.#path);
    while (!signal.aborted) {
      const operation = this.#choose(ids);
      const task = { verb: 'write', operation, holdMs: this.#random.below(WRITE_MS_MAX) } as const;
      const outcome = await this.#journal.record(operation, () => program.perform<Outcome>(task));
      const id = createdId(operation, outcome);
      if (id !== undefined) ids.push(id);
      this.counts['writes of others']++;
      await sleep(this.#random.below(WRITE_PAUSE_MS_MAX));
    }
  }

  #choose(ids: readonly number[]): Operation {
    const kind = this.#random.pick(['create', 'update', 'update', 'delete']);
    const sent = newFields(this.#random);
    if (kind === 'create') return { kind, sent };
    const id = this.#random.pick(ids) ?? 0;
    return kind === 'update' ? { kind, id, sent: { title: sent.title } } : { kind, id };
  }

  async #backUp(signal: AbortSignal): Promise<void> {
    await using program = new SqliteProcess(this.#path);
    const path = `${this.#path}.copy`;
    while (!signal.aborted) {
      const mode = CHECKPOINT_MODES[this.counts.checkpoints % CHECKPOINT_MODES.length] ?? 'passive';
      await program.perform({ verb: 'checkpoint', mode });
      this.counts.checkpoints++;
      await sleep(this.#random.below(BACKUP_PAUSE_MS_MAX));
      const callsBefore = this.#journal.calls.length;
      const ids = await program.perform<number[]>({ verb: 'back up', path });
      this.#backups.push({ callsBefore, ids: new Set(ids) });
      this.counts.backups++;
      await rm(path);
    }
  }
}
