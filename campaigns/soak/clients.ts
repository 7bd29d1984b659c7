import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../test/http/connection.ts';
import { Random } from '../random.ts';
import { Requests } from './requests.ts';

/** How many clients there are, each with a connection of its own. */
const CLIENTS = 32;

/** Where a service listens on loopback, and what it takes to use it. */
export interface Access {
  readonly port: number;
  readonly secret: string;
  /** The body of a right login. */
  readonly credentials: string;
}

/** Clients that ask for a little of everything. Disposing lets them end. */
export class Clients implements AsyncDisposable {
  readonly #runs: Promise<unknown>;
  #intervalMs = 0;
  #waits = createHistogram();
  #isOver = false;

  constructor(access: Access, seed: number) {
    const each = Array.from({ length: CLIENTS }, (_, index) =>
      this.#call(access, new Random(seed * 1_000 + index)),
    );
    this.#runs = Promise.all(each);
    // Who fails is heard of in call().
    this.#runs.catch(() => {});
  }

  /**
   * Lets them call for a while.
   *
   * @param perSecond how many requests all of them make a second, as far as the service keeps up
   * @returns how long each of the requests waited for its answer, in nanoseconds
   * @throws Error when an answer is another one than it should be
   */
  async call(ms: number, perSecond = Number.POSITIVE_INFINITY): Promise<RecordableHistogram> {
    this.#intervalMs = (CLIENTS / perSecond) * 1_000;
    const waits = createHistogram();
    this.#waits = waits;
    await Promise.race([sleep(ms), this.#runs]);
    return waits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#runs;
  }

  async #call(access: Access, random: Random): Promise<void> {
    const requests = new Requests(access.secret, access.credentials, random);
    using connection = await Connection.open(access);
    for (let dueMs = performance.now(); !this.#isOver; ) {
      const { bytes, take } = requests.next();
      const sentMs = performance.now();
      await connection.send(bytes);
      const answer = await connection.answer();
      const nowMs = performance.now();
      this.#waits.record(Math.ceil((nowMs - sentMs) * 1e6));
      take(answer);
      // Who is late does not hurry afterwards.
      dueMs = Math.max(dueMs + this.#intervalMs, nowMs);
      if (dueMs > nowMs) await sleep(dueMs - nowMs);
    }
  }
}
