import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { assertEnvelope } from '../../test/http/answers.ts';
import type { Answer } from '../../test/http/connection.ts';
import { type Service, startService } from '../../test/http/service.ts';
import { engines } from '../../test/support/engines.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { Chance } from '../chance.ts';
import { areSingleBytes, cutAnywhere } from '../pieces.ts';
import { Books } from './books.ts';
import { Caller } from './caller.ts';
import { type HostileRequest, hostileRequests, render } from './requests.ts';

export const campaign: Campaign = {
  summary:
    'bodies, ids and tokens of any bytes and in any pieces, the same to both engines; a round is a request',
  rounds: [500_000],
  // And on PostgreSQL at the same time, as the two are compared.
  engines: ['SQLite'],
  run,
};

/** How many requests go to services of their own, whose books are looked at in the end. */
const SEQUENCE = 2_000;

/** How many sequences are played at the same time, so that one uses the time in which another waits for disks. */
const AT_ONCE = 4;

/** How many requests are sent before their answers are read; those that come alone may come in pieces of one byte. */
const PIPELINED = [1, 1, 20];

async function run({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  const tally: Record<string, number> = { requests: rounds, [SINGLE_BYTES]: 0 };
  const sequences = Array.from({ length: Math.ceil(rounds / SEQUENCE) }, (_, index) => index).values();
  const tormentor = async (): Promise<void> => {
    for (const index of sequences) {
      const count = Math.min(SEQUENCE, rounds - index * SEQUENCE);
      for (const { status } of await torment(seed + index, count, tally)) {
        tally[`answered ${status}`] = (tally[`answered ${status}`] ?? 0) + 1;
      }
      if (index % 25 === 0) report(`${(index + 1) * SEQUENCE} requests`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, tormentor));
  return tally;
}

const SINGLE_BYTES = 'in pieces of one byte';

/**
 * Sends a sequence of hostile requests to an empty service on each engine, the same to both at the same time, and
 * asserts that they answer alike to the byte, in the envelope, without a 5xx; and that the books are then what the
 * answers said of them.
 *
 * @param seed says which sequence
 * @param tally counts the requests that came in pieces of one byte
 */
async function torment(seed: number, count: number, tally: Record<string, number>): Promise<Answer[]> {
  // Their clocks stand still, so that their tokens are the same.
  const now = Date.now();
  const throttleLimits = { failuresMax: Number.MAX_SAFE_INTEGER, windowSeconds: 60 };
  await using resources = new AsyncDisposableStack();
  const services: Service[] = [];
  for (const { name } of engines) {
    services.push(resources.use(await startService({ engine: name, now: () => now, throttleLimits })));
  }
  const callers = services.map((service) => resources.use(new Caller(service)));
  const token = services[0]?.token ?? '';
  const chance = new Chance(seed);
  const ask = async (requests: readonly HostileRequest[]): Promise<Answer[]> => {
    const rendered = requests.map((request) => render(request, token));
    const pieces = cutAnywhere(Buffer.concat(rendered), chance);
    if (areSingleBytes(pieces)) tally[SINGLE_BYTES] = (tally[SINGLE_BYTES] ?? 0) + rendered.length;
    return compare(await Promise.all(callers.map((caller) => caller.send(rendered, pieces))), requests);
  };
  try {
    return await play(fc.sample(hostileRequests, { seed, numRuns: count }), chance, ask);
  } catch (cause) {
    const warnings = services.flatMap(({ log }) => log.filter((line) => !line.startsWith('{"level":30')));
    throw new Error(`seed ${seed}; the log has ${warnings.slice(-3).join('')}`, { cause });
  }
}

/** @param ask sends requests at once. @returns all answers */
async function play(
  sequence: readonly HostileRequest[],
  chance: Chance,
  ask: (requests: readonly HostileRequest[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const books = new Books();
  const answers: Answer[] = [];
  for (let at = 0; at < sequence.length; ) {
    const requests = sequence.slice(at, at + (chance.pick(PIPELINED) ?? 1));
    at += requests.length;
    for (const [index, answer] of (await ask(requests)).entries()) {
      const request = requests[index] as HostileRequest;
      about(request, () => books.note(request, answer));
      answers.push(answer);
    }
  }
  await books.assertStored(ask);
  return answers;
}

/** @returns the answers that all engines gave */
function compare([one = [], ...others]: readonly Answer[][], requests: readonly HostileRequest[]): Answer[] {
  for (const [index, answer] of one.entries()) {
    about(requests[index] as HostileRequest, () => {
      assertEnvelope(answer);
      assert.ok(answer.status < 500, answer.body);
      for (const other of others) assert.deepEqual(comparable(other[index]), comparable(answer));
    });
  }
  return one;
}

function comparable(answer: Answer | undefined): unknown[] {
  assert.ok(answer);
  for (const own of ['date', 'x-request-id']) answer.headers.delete(own);
  return [...answer.headers, answer.body];
}

/** Says what a failed assertion is about. */
function about({ method, path, token = '', lines, body }: HostileRequest, check: () => void): void {
  try {
    check();
  } catch (cause) {
    const content = Buffer.from(body).toString('latin1');
    const texts = [path, token, ...lines, content].map((text) => JSON.stringify(text.slice(0, 300)));
    throw new Error(`${method} ${texts.join(' ')} (${body.length} bytes)`, { cause });
  }
}
