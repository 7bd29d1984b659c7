import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../testkit/connection.ts';
import type { Target } from '../book-client.ts';
import { Loops } from '../loops.ts';
import { Random } from '../random.ts';
import { Requests } from './requests.ts';

/** The number of clients, each with its own connection. */
const CLIENTS = 32;

/** Where a service listens, its secret and its credentials. */
export interface Access extends Target {
  /** The body of a valid login. */
  readonly credentials: string;
}

/** Clients that send a mix of all requests. Disposing stops them. */
export class Clients implements AsyncDisposable {
  readonly #loops: Loops;
  #intervalMs = 0;
  #waits = createHistogram();

  constructor(access: Access, seed: number) {
    this.#loops = new Loops(
      Array.from(
        { length: CLIENTS },
        (_, index) => (signal) => this.#send(access, new Random(seed * 1_000 + index), signal),
      ),
    );
  }

  /**
   * Sends requests for a while.
   *
   * @param perSecond the rate of all clients together, if the service can serve it
   * @returns the latencies, in nanoseconds
   * @throws Error on an unexpected response
   */
  async run(ms: number, perSecond = Number.POSITIVE_INFINITY): Promise<RecordableHistogram> {
    this.#intervalMs = (CLIENTS / perSecond) * 1_000;
    const waits = createHistogram();
    this.#waits = waits;
    await this.#loops.run(ms);
    return waits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loops.stop();
  }

  async #send(access: Access, random: Random, signal: AbortSignal): Promise<void> {
    const requests = new Requests(access.secret, access.credentials, random);
    using connection = await Connection.open(access);
    for (let dueMs = performance.now(); !signal.aborted; ) {
      const { bytes, check } = requests.next();
      const sentMs = performance.now();
      await connection.send(bytes);
      const response = await connection.response();
      const nowMs = performance.now();
      this.#waits.record(Math.ceil((nowMs - sentMs) * 1e6));
      check(response);
      // A late client does not send faster afterwards.
      dueMs = Math.max(dueMs + this.#intervalMs, nowMs);
      if (dueMs > nowMs) await sleep(dueMs - nowMs);
    }
  }
}
