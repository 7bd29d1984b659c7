import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { assertEnvelope } from '../../test/http/answers.ts';
import { Connection, Cut, request } from '../../test/http/connection.ts';
import type { Target } from '../book-client.ts';
import type { Random } from '../random.ts';

/** How a client sends its requests. */
export interface Habit {
  /** How many requests it sends at once, before it reads their answers. */
  readonly pipelined: number;
  /** The longest time between its answers and its next requests, in milliseconds. */
  readonly pauseMsMax: number;
  /** Whether it uses its connection for more than that. */
  readonly keepsConnection: boolean;
}

/** What came of the requests of all clients. */
export interface Tally {
  answered: number;
  /** Requests on connections that were answered before, and were not answered. */
  dropped: number;
  /** Connections on which there were answers. */
  served: number;
  /** Connections that ended before anything was asked on them. */
  unasked: number;
  /** Connections on which nothing of what was asked was answered: the system had taken them, and the service had not. */
  turnedAway: number;
}

/** Sends good requests until the service is gone. */
export async function callUntilGone(
  target: Target,
  habit: Habit,
  tally: Tally,
  random: Random,
): Promise<void> {
  const authorization = `Authorization: ${makeToken(target.secret, {})}`;
  for (;;) {
    using connection = await open(target);
    if (!connection) return;
    let isNew = true;
    do {
      // Who pauses notices when the connection ends meanwhile.
      const answers = readAnswers(connection, habit.pipelined);
      const isEnded = await Promise.race([
        answers.then(() => true),
        sleep(random.below(habit.pauseMsMax + 1)),
      ]);
      if (isEnded) {
        if (isNew) tally.unasked++;
        break;
      }
      const starts = Array.from({ length: habit.pipelined }, () => random.pick(STARTS) ?? '');
      await connection.send(starts.map((start) => request(start, [authorization], '{"year":1}')).join(''));
      const { count, isOver } = await answers;
      tally.answered += count;
      if (isNew) tally[count > 0 ? 'served' : 'turnedAway']++;
      if (!isNew || count > 0) tally.dropped += habit.pipelined - count;
      if (isOver) break;
      isNew = false;
    } while (habit.keepsConnection);
  }
}

/** @returns undefined when nobody listens any more */
async function open(target: Target): Promise<Connection | undefined> {
  try {
    return await Connection.open(target);
  } catch {
    return undefined;
  }
}

/** @returns how many of the answers came, and whether the connection is at its end */
async function readAnswers(
  connection: Connection,
  expected: number,
): Promise<{ count: number; isOver: boolean }> {
  for (let count = 0; count < expected; count++) {
    try {
      const answer = await connection.answer();
      assert.ok(answer.status < 500, `status ${answer.status}`);
      assertEnvelope(answer);
      if (answer.headers.get('connection') === 'close') return { count: count + 1, isOver: true };
    } catch (error) {
      if (error instanceof Cut) return { count, isOver: true };
      throw error;
    }
  }
  return { count: expected, isOver: false };
}

/** Answered from the store and without it, at once and later. */
const STARTS = ['POST /book', 'PUT /book/1', 'GET /book/1', 'GET /book/x', 'GET /nowhere'];
