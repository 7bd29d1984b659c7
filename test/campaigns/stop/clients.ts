import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../contract/tokens.ts';
import { Connection, Cut, request } from '../../http/connection.ts';
import type { Chance } from '../chance.ts';
import type { Target } from '../line.ts';

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
  /** Requests that had arrived, on connections that were answered before, and were not answered. */
  dropped: number;
  /** New connections that found nobody there any more. */
  turnedAway: number;
}

/** Sends good requests until the service is gone. */
export async function callUntilGone(
  target: Target,
  habit: Habit,
  tally: Tally,
  chance: Chance,
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
        sleep(chance.below(habit.pauseMsMax + 1)),
      ]);
      if (isEnded) break;
      const starts = Array.from({ length: habit.pipelined }, () => chance.pick(STARTS) ?? '');
      await connection.send(starts.map((start) => request(start, [authorization], '{"year":1}')).join(''));
      const { count, isOver } = await answers;
      tally.answered += count;
      tally[isNew && count === 0 ? 'turnedAway' : 'dropped'] += habit.pipelined - count;
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
      const { status, headers } = await connection.answer();
      assert.ok(status < 500, `status ${status}`);
      if (headers.get('connection') === 'close') return { count: count + 1, isOver: true };
    } catch (error) {
      if (error instanceof Cut) return { count, isOver: true };
      throw error;
    }
  }
  return { count: expected, isOver: false };
}

/** Answered from the store and without it, at once and later. */
const STARTS = ['POST /book', 'PUT /book/1', 'GET /book/1', 'GET /book/x', 'GET /nowhere'];
