import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEnvelope } from '../../testkit/assertions.ts';
import { Connection, Cut, request } from '../../testkit/connection.ts';
import { authorizationLine, type Target } from '../book-client.ts';
import type { Random } from '../random.ts';

/** How a client sends its requests. */
export interface Pattern {
  /** The number of requests that it sends before it reads their responses. */
  readonly pipelined: number;
  /** The longest pause between the responses and the next requests, in milliseconds. */
  readonly pauseMsMax: number;
  /** Whether it keeps its connection. */
  readonly keepsConnection: boolean;
}

/** Counts of all clients. */
export interface Tally {
  /** Requests that got a response. */
  answered: number;
  /** Requests without a response, on connections that the service had accepted. */
  dropped: number;
  /** Connections with a response. */
  served: number;
  /** Connections that ended before a request was sent. */
  unused: number;
  /** Connections without a response: in the backlog of the operating system, not accepted by the service. */
  unaccepted: number;
}

/** Sends valid requests until the service has closed its port. */
export async function sendUntilStopped(
  target: Target,
  pattern: Pattern,
  tally: Tally,
  random: Random,
): Promise<void> {
  const authorization = authorizationLine(target.secret);
  for (;;) {
    using connection = await open(target);
    if (!connection) return;
    let isNew = true;
    do {
      // The connection may end during the pause.
      const responses = readResponses(connection, pattern.pipelined);
      const isEnded = await Promise.race([
        responses.then(() => true),
        sleep(random.below(pattern.pauseMsMax + 1)),
      ]);
      if (isEnded) {
        if (isNew) tally.unused++;
        break;
      }
      const starts = Array.from({ length: pattern.pipelined }, () => random.pick(STARTS));
      await connection.send(starts.map((start) => request(start, [authorization], '{"year":1}')).join(''));
      const { count, isClosed } = await responses;
      tally.answered += count;
      if (isNew) tally[count > 0 ? 'served' : 'unaccepted']++;
      if (!isNew || count > 0) tally.dropped += pattern.pipelined - count;
      if (isClosed) break;
      isNew = false;
    } while (pattern.keepsConnection);
  }
}

/** @returns undefined when the service has closed its port */
async function open(target: Target): Promise<Connection | undefined> {
  try {
    return await Connection.open(target);
  } catch {
    return undefined;
  }
}

/** @returns the number of responses, and whether the connection is closed */
async function readResponses(
  connection: Connection,
  expected: number,
): Promise<{ count: number; isClosed: boolean }> {
  for (let count = 0; count < expected; count++) {
    try {
      const response = await connection.response();
      assert.ok(response.status < 500, `status ${response.status}`);
      assertEnvelope(response);
      if (response.headers.get('connection') === 'close') return { count: count + 1, isClosed: true };
    } catch (error) {
      if (error instanceof Cut) return { count, isClosed: true };
      throw error;
    }
  }
  return { count: expected, isClosed: false };
}

/** Requests with and without a query of the store. */
const STARTS = ['POST /book', 'PUT /book/1', 'GET /book/1', 'GET /book/x', 'GET /nowhere'] as const;
