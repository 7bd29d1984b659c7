import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type BookChange, type BookClient, createClient } from '../../client/index.ts';
import { query } from '../../testkit/sql.ts';
import type { Random } from '../random.ts';

/** The books of which clients write one; new ones get further ids. */
const BOOKS = 60;

/** Writes through the service, and counts what was acknowledged. */
export class Writers {
  /** How often each change was acknowledged, see {@link nameOf}. */
  acknowledged = new Map<string, number>();
  count = 0;
  readonly #service: { readonly url: string; readonly token: string };
  readonly #books: BookClient;
  readonly #random: Random;

  constructor(service: { readonly url: string; readonly token: string }, random: Random) {
    this.#service = service;
    this.#books = createClient({ ...service, attemptsMax: 1 });
    this.#random = random;
  }

  async writeUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const changes = await this.#write().catch(() => undefined);
      if (!changes) await sleep(10);
      for (const change of changes ?? []) {
        this.count++;
        countIn(this.acknowledged, nameOf(change));
      }
    }
  }

  /**
   * Asserts that the history of a book has its creation at once: on PostgreSQL, also while another transaction that has written
   * is open.
   */
  async expectHistoryAtOnce(dbUrl: string): Promise<void> {
    const other = dbUrl.startsWith('sqlite:') ? undefined : new Client(dbUrl).on('error', () => {});
    await other?.connect();
    await other?.query("begin; insert into books (title, author, year) values ('open', '', 0)");
    try {
      const book = await repeated(() => this.#books.create({ title: 'at once', author: '', year: 0 }));
      countIn(this.acknowledged, nameOf({ type: 'created', book }));
      const { url, token } = this.#service;
      const history = async () => {
        const response = await fetch(`${url}/book/${book.id}/history`, { headers: { Authorization: token } });
        if (response.status >= 500) throw new Error(`${response.status}`);
        return response.status;
      };
      assert.equal(await repeated(history), 200, `the history of book ${book.id} has no change yet`);
    } finally {
      await other?.end();
    }
  }

  /** @returns the acknowledged changes */
  async #write(): Promise<Pick<BookChange, 'type' | 'book'>[]> {
    const random = this.#random;
    const id = 1 + random.below(BOOKS);
    const fields = { title: `title ${random.next()}`, author: '', year: random.below(3) };
    const kind = random.below(5);
    if (kind === 0) return [{ type: 'created', book: await this.#books.create(fields) }];
    if (kind === 1) {
      const books = await this.#books.createMany([fields, fields]);
      return books.map((book) => ({ type: 'created', book }));
    }
    if (kind === 2) {
      const book = await this.#books.update(id, fields);
      return book ? [{ type: 'updated', book }] : [];
    }
    if (kind === 3)
      return (await this.#books.delete(id)) ? [{ type: 'deleted', book: { ...fields, id } }] : [];
    const book = await this.#books.restore(id);
    return book ? [{ type: 'created', book }] : [];
  }
}

/** Repeats a call that fails after an outage. */
async function repeated<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      await sleep(100);
    }
  }
}

const ATTEMPTS_MAX = 100;

/** Equal for what a client knows of its write, and the change in the log; the titles of updates are unique. */
export function nameOf({ type, book }: Pick<BookChange, 'type' | 'book'>): string {
  return `${type} ${book.id} ${type === 'updated' ? book.title : ''}`;
}

export function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Another program: on PostgreSQL, with transactions that overlap, of which some are rolled back. */
export async function writeDirectly(
  urlOf: () => string,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const insert = `insert into books (title, author, year) values ('direct', '', 0)`;
  const update = `update books set year = year + 1 where id <= ${BOOKS} and id % 7 = ${random.below(7)}`;
  const dbUrl = urlOf();
  if (dbUrl.startsWith('sqlite:')) {
    while (!isOver()) {
      await query(dbUrl, random.below(2) === 0 ? insert : update).catch(() => []);
      await sleep(20);
    }
    return;
  }
  const transact = async () => {
    while (!isOver()) {
      const client = new Client(urlOf());
      client.on('error', () => {});
      try {
        await client.connect();
        await client.query(`begin; ${insert}`);
        await sleep(random.next() * 60);
        await client.query(random.below(2) === 0 ? insert : update);
        await client.query(random.below(4) === 0 ? 'rollback' : 'commit');
      } catch {
        await sleep(20);
      }
      await client.end().catch(() => {});
    }
  };
  await Promise.all([transact(), transact(), transact()]);
}
