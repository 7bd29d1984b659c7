import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/statistics.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { authorizationLine, type Target } from '../book-client.ts';

const CLIENTS = 8;
const PAUSE_MS = 50;

/**
 * Regular clients that measure the latency of the service, in their own process, so that the load of the attackers does
 * not affect them. Each request has a new connection, as the checks of a proxy have.
 */
export class Probe implements AsyncDisposable {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** @param id the id of a short book */
  static start(target: Target, id: number): Probe {
    return new Probe(fork(import.meta.filename, [JSON.stringify({ target, id })], { execArgv: [] }));
  }

  /** @returns the 99th percentile and the maximum of the latencies since the last call, in milliseconds */
  async take(): Promise<{ readonly p99Ms: number; readonly slowestMs: number }> {
    this.#process.send('take');
    const [latenciesMs] = (await once(this.#process, 'message')) as [number[]];
    return { p99Ms: percentile(latenciesMs, 99), slowestMs: Math.max(...latenciesMs) };
  }

  /** Stops it, and asserts that every request got the expected response. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    assert.equal(this.#process.exitCode, 0);
  }
}

if (import.meta.main) {
  const { target, id } = JSON.parse(process.argv[2] ?? '') as { target: Target; id: number };
  let latenciesMs: number[] = [];
  process.on('message', () => {
    process.send?.(latenciesMs);
    latenciesMs = [];
  });
  await Promise.all(
    Array.from({ length: CLIENTS }, () => sendRequests(target, id, (ms) => latenciesMs.push(ms))),
  );
}

/** Sends requests until the parent disconnects. */
async function sendRequests(target: Target, id: number, record: (latencyMs: number) => void): Promise<void> {
  const authorization = authorizationLine(target.secret);
  for (let count = 0; process.connected; count++) {
    const startedMs = performance.now();
    using connection = await Connection.open(target);
    const [start, body, expected] =
      count % 10 === 0
        ? (['POST /book', '{"year":1}', 201] as const)
        : ([`GET /book/${id}`, '', 200] as const);
    await connection.send(request(start, [authorization], body));
    const { status } = await connection.response();
    record(performance.now() - startedMs);
    assert.equal(status, expected);
    await sleep(PAUSE_MS);
  }
}
