import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newFields } from '../clients.ts';
import type { Journal, Operation, Outcome } from '../journal.ts';
import type { Random } from '../random.ts';
import { CHECKPOINT_MODES, Neighbour } from './neighbour.ts';

/** How long a transaction that reads may be open, and one that writes. */
const READ_MS_MAX = 1_000;
const WRITE_MS_MAX = 50;

/** The longest time between two writes, and between two tasks of who looks after the file. */
const WRITE_PAUSE_MS_MAX = 200;
const CARE_PAUSE_MS_MAX = 1_000;

/** A backup, and how many calls the journal had when it began. */
interface Backup {
  readonly callsBefore: number;
  readonly ids: ReadonlySet<number>;
}

/** The store's other users, each in a process of its own: one reads for long, one writes, one looks after the file. */
export class Others {
  /** What they have done. */
  readonly counts = { 'long reads': 0, 'writes of others': 0, checkpoints: 0, backups: 0 };
  readonly #path: string;
  readonly #journal: Journal;
  readonly #random: Random;
  readonly #backups: Backup[] = [];
  readonly #runs: Promise<unknown>;
  #isOver = false;

  /** @param path the SQLite file; @param journal where their writes go; @param shared ids that they change, too */
  constructor(path: string, journal: Journal, shared: readonly number[], random: Random) {
    this.#path = path;
    this.#journal = journal;
    this.#random = random;
    this.#runs = Promise.all([this.#read(), this.#write([...shared]), this.#lookAfter()]);
    // Who fails is heard of in stop().
    this.#runs.catch(() => {});
  }

  /** Resolves when all have ended. @throws Error when one has failed, or a backup lacks a book */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#runs;
    const { calls } = this.#journal;
    const deleted = calls.flatMap((call) => (call.kind === 'delete' ? [call.id] : []));
    for (const { callsBefore, ids } of this.#backups) {
      const created = calls.slice(0, callsBefore).flatMap(({ kind, outcome }) => {
        const book = kind === 'create' && outcome.is === 'done' ? outcome.data : null;
        return book ? [book.id] : [];
      });
      const missing = new Set(created).difference(new Set(deleted)).difference(ids);
      assert.deepEqual([...missing], [], 'acknowledged, and not in a backup that began later');
    }
  }

  async #read(): Promise<void> {
    await using neighbour = new Neighbour(this.#path);
    while (!this.#isOver) {
      await neighbour.perform({ verb: 'read', holdMs: this.#random.below(READ_MS_MAX) });
      this.counts['long reads']++;
    }
  }

  async #write(ids: number[]): Promise<void> {
    await using neighbour = new Neighbour(this.#path);
    while (!this.#isOver) {
      const operation = this.#choose(ids);
      const task = { verb: 'write', operation, holdMs: this.#random.below(WRITE_MS_MAX) } as const;
      const outcome = await this.#journal.record(operation, () => neighbour.perform<Outcome>(task));
      if (operation.kind === 'create' && outcome.is === 'done' && outcome.data) ids.push(outcome.data.id);
      this.counts['writes of others']++;
      await sleep(this.#random.below(WRITE_PAUSE_MS_MAX));
    }
  }

  #choose(ids: readonly number[]): Operation {
    const kind = this.#random.pick(['create', 'update', 'update', 'delete'] as const);
    const sent = newFields(this.#random);
    if (kind === 'create' || kind === undefined) return { kind: 'create', sent };
    const id = this.#random.pick(ids) ?? 0;
    return kind === 'update' ? { kind, id, sent: { title: sent.title } } : { kind, id };
  }

  async #lookAfter(): Promise<void> {
    await using neighbour = new Neighbour(this.#path);
    const path = `${this.#path}.copy`;
    while (!this.#isOver) {
      const mode = CHECKPOINT_MODES[this.counts.checkpoints % CHECKPOINT_MODES.length] ?? 'passive';
      await neighbour.perform({ verb: 'checkpoint', mode });
      this.counts.checkpoints++;
      await sleep(this.#random.below(CARE_PAUSE_MS_MAX));
      const callsBefore = this.#journal.calls.length;
      const ids = await neighbour.perform<number[]>({ verb: 'back up', path });
      this.#backups.push({ callsBefore, ids: new Set(ids) });
      this.counts.backups++;
      await rm(path);
    }
  }
}
