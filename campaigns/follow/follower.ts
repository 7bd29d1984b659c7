import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { type BookChange, ChangesRemovedError, createClient, RefusedError } from '../../client/index.ts';
import type { Book } from '../../src/book/contract.ts';
import { PASSWORD, SECRET } from '../../testkit/service.ts';
import { countIn, nameOf } from './writers.ts';

/** A way to follow the changes. */
export const KINDS = ['client', 'poll', 'command'] as const;

type Kind = (typeof KINDS)[number];

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'bookkeeping.mjs');

/** Follows the changes from the first one on, is interrupted now and then, and keeps a replica of the table. */
export class Follower {
  readonly replica = new Map<number, Book>();
  interruptions = 0;
  readonly kind: Kind;
  readonly #service: { readonly url: string; readonly token: string };
  readonly #file: string;
  readonly #seen = new Set<string>();
  /** How often each change was seen. */
  readonly #counts = new Map<string, number>();
  #cursor: string | undefined;
  #hasProgress = false;
  #interruption = new AbortController();
  /** Whether changes that it has seen were lost. */
  #mustBeginAnew = false;
  #isEnded = false;
  #running: Promise<void> | undefined;

  /** @param file in which the command keeps its cursor */
  constructor(kind: Kind, service: { readonly url: string; readonly token: string }, file: string) {
    this.kind = kind;
    this.#service = service;
    this.#file = file;
  }

  get changes(): number {
    return this.#seen.size;
  }

  /** Resolves at its end; rejects at the first violation. */
  run(): Promise<void> {
    this.#running ??= this.#follow();
    return this.#running;
  }

  /** Breaks its connection, or kills the command; it resumes from its last cursor. */
  interrupt(): void {
    // A command takes as long to start as the time between two interruptions.
    if (this.kind === 'command' && !this.#hasProgress && !this.#isEnded) return;
    this.interruptions++;
    this.#interruption.abort();
  }

  /** From now on, the changes after its cursor are others: it must get an error, and begins anew. */
  expectLoss(): void {
    this.#mustBeginAnew = true;
  }

  /** Asserts that it has seen each of these changes at least as often. */
  expectAll(acknowledged: ReadonlyMap<string, number>): void {
    assert.ok(!this.#mustBeginAnew, `${this.kind}: changes that were lost did not end its cursor`);
    for (const [name, count] of acknowledged) {
      const seen = this.#counts.get(name) ?? 0;
      assert.ok(
        seen >= count,
        `${this.kind}: ${name} was acknowledged ${count} times, and is ${seen} times in the log`,
      );
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.interrupt();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#isEnded) {
      this.#interruption = new AbortController();
      this.#hasProgress = false;
      try {
        for await (const change of this.#changes(this.#interruption.signal)) {
          // The command was killed before it could keep the cursor.
          const isRepeated = this.kind === 'command' && !this.#hasProgress && change.cursor === this.#cursor;
          if (!isRepeated) this.#apply(change);
          this.#hasProgress = true;
        }
      } catch (error) {
        if (isCursorRejected(error) && this.#mustBeginAnew) await this.#beginAnew();
        else if (error instanceof Violation || error instanceof RefusedError) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** The log has all changes, as none is old. */
  async #beginAnew(): Promise<void> {
    await rm(this.#file, { force: true });
    this.#cursor = undefined;
    this.#mustBeginAnew = false;
    for (const known of [this.replica, this.#seen, this.#counts]) known.clear();
  }

  /** Each change has to fit to the replica: none is missing, none comes twice, and those of a book are in order. */
  #apply(change: BookChange): void {
    const { cursor, type, book } = change;
    const fail = (problem: string) => {
      throw new Violation(`${this.kind}: ${type} ${JSON.stringify(book)} at ${cursor}: ${problem}`);
    };
    if (this.#seen.has(cursor)) fail('seen twice');
    const known = this.replica.get(book.id);
    if (type === 'created' && known) fail('exists');
    if (type !== 'created' && !known) fail('does not exist');
    const isSame = isDeepStrictEqual(known, book);
    if (type === 'deleted' && !isSame) fail(`was ${JSON.stringify(known)}`);
    if (type === 'updated' && isSame) fail('nothing is changed');
    if (type === 'deleted') this.replica.delete(book.id);
    else this.replica.set(book.id, book);
    this.#seen.add(cursor);
    countIn(this.#counts, nameOf(change));
    this.#cursor = cursor;
  }

  #changes(signal: AbortSignal): AsyncIterable<BookChange> {
    if (this.kind === 'poll') return this.#poll(signal);
    if (this.kind === 'command') return this.#command(signal);
    return createClient(this.#service).changes({ after: this.#cursor, signal });
  }

  async *#poll(signal: AbortSignal): AsyncGenerator<BookChange> {
    for (;;) {
      const response = await this.#request('limit=7&wait=5', signal);
      const { data } = (await response.json()) as { data: BookChange[] };
      yield* data;
    }
  }

  async *#command(signal: AbortSignal): AsyncGenerator<BookChange> {
    const command = spawn(process.execPath, [PROGRAM, 'follow', this.#file, '--url', this.#service.url], {
      env: { SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(command, 'close');
    signal.addEventListener('abort', () => command.kill('SIGKILL'));
    for await (const line of createInterface(command.stdout)) {
      // A kill may cut the last line.
      if (line.endsWith('}}')) yield JSON.parse(line) as BookChange;
    }
    const [code] = await ended;
    if (code !== null) throw new CursorRejected(`the command ended with ${code}`);
  }

  async #request(query: string, signal: AbortSignal): Promise<Response> {
    const { url, token } = this.#service;
    const after = this.#cursor === undefined ? '' : `&after=${this.#cursor}`;
    const response = await fetch(`${url}/changes?${query}${after}`, {
      headers: { Authorization: token },
      signal,
    });
    if (response.status === 200) return response;
    const text = await response.text();
    if (response.status < 500) throw new CursorRejected(`${this.kind}: ${response.status} ${text}`);
    throw new Error(text);
  }
}

/** A follower has got what it must not get. */
export class Violation extends Error {}

class CursorRejected extends Violation {}

function isCursorRejected(error: unknown): boolean {
  return (
    error instanceof CursorRejected || error instanceof RefusedError || error instanceof ChangesRemovedError
  );
}
