import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { Connection, request } from '../../test/http/connection.ts';
import type { Target } from '../book-client.ts';

const CLIENTS = 8;
const PAUSE_MS = 10;

/**
 * Clients who mean well, in a process of their own, so that they notice nothing of the attackers but by the service.
 * They measure how long they wait for their answers.
 */
export class Probe implements AsyncDisposable {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** @param id a book to ask for, that is not long */
  static start(target: Target, id: number): Probe {
    return new Probe(fork(import.meta.filename, [JSON.stringify({ target, id })], { execArgv: [] }));
  }

  /** @returns the wait that 99 of 100 requests since the last call had at most, in milliseconds */
  async takeP99Ms(): Promise<number> {
    this.#process.send('take');
    const [waits] = (await once(this.#process, 'message')) as [number[]];
    waits.sort((one, other) => one - other);
    return waits[Math.floor(waits.length * 0.99)] ?? Number.NaN;
  }

  /** Ends it, and asserts that every request was answered as it should be. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    assert.equal(this.#process.exitCode, 0);
  }
}

if (import.meta.main) {
  const { target, id } = JSON.parse(process.argv[2] ?? '') as { target: Target; id: number };
  let waitsMs: number[] = [];
  process.on('message', () => {
    process.send?.(waitsMs);
    waitsMs = [];
  });
  await Promise.all(Array.from({ length: CLIENTS }, () => call(target, id, (ms) => waitsMs.push(ms))));
}

/** Asks until nobody listens any more. */
async function call(target: Target, id: number, note: (waitMs: number) => void): Promise<void> {
  const authorization = `Authorization: ${makeToken(target.secret, {})}`;
  using connection = await Connection.open(target);
  for (let count = 0; process.connected; count++) {
    const asked = performance.now();
    const [start, body, expected] =
      count % 10 === 0
        ? (['POST /book', '{"year":1}', 201] as const)
        : ([`GET /book/${id}`, '', 200] as const);
    await connection.send(request(start, [authorization], body));
    const { status } = await connection.answer();
    note(performance.now() - asked);
    assert.equal(status, expected);
    await sleep(PAUSE_MS);
  }
}
