import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { assertEnvelope } from '../../testkit/assertions.ts';
import type { RawResponse } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { type Service, startService } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { add } from '../figures.ts';
import { areSingleBytes, splitRandomly } from '../pieces.ts';
import { Random } from '../random.ts';
import { Books } from './books.ts';
import { Client } from './client.ts';
import { type HostileRequest, hostileRequests, render } from './requests.ts';

export const campaign: Campaign = {
  summary:
    'bodies, ids, tokens and queries of arbitrary bytes in arbitrary pieces, the same to both engines; a round is a request',
  recorded: ['requests', 'searches that found books'],
  // It runs on PostgreSQL at the same time, and compares the two.
  engines: ['SQLite'],
  full: { rounds: [200_000] },
  short: { rounds: [400] },
  run,
};

/** How many requests are sent to one pair of services before their books are checked. */
const SEQUENCE_LENGTH = 2_000;

/** How many sequences run at the same time, so that one runs while another waits for the disk. */
const CONCURRENCY = 4;

/** How many requests are sent before their responses are read; a single one may be sent in pieces of one byte. */
const PIPELINED = [1, 1, 20] as const;

async function run({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  const tally: Record<string, number> = { requests: rounds, [SINGLE_BYTES]: 0, [FOUND]: 0 };
  const sequences = Array.from({ length: Math.ceil(rounds / SEQUENCE_LENGTH) }, (_, index) => index).values();
  const runSequences = async (): Promise<void> => {
    for (const index of sequences) {
      const length = Math.min(SEQUENCE_LENGTH, rounds - index * SEQUENCE_LENGTH);
      await runSequence(seed + index, length, tally);
      if (index % 25 === 0) report(`${(index + 1) * SEQUENCE_LENGTH} requests`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runSequences));
  return tally;
}

const SINGLE_BYTES = 'in pieces of one byte';
const FOUND = 'searches that found books';

/**
 * Sends a sequence of requests to an empty service on each engine, to both at the same time. Asserts that their responses
 * are equal to the byte and in the envelope, that none is a 5xx, and that the books stored in the end are those of the
 * responses.
 *
 * @param seed selects the sequence
 * @param tally counts requests, by the status of the response among others
 */
async function runSequence(seed: number, length: number, tally: Record<string, number>): Promise<void> {
  // Their time is fixed, so that their tokens are equal.
  const now = Date.now();
  // Otherwise, logins are rejected after the hundredth failure, and long responses depending on how fast the client reads.
  const httpLimits = { unreadBytesAtOnce: 1_024 ** 3, failedLogins: Number.MAX_SAFE_INTEGER };
  await using resources = new AsyncDisposableStack();
  const services: Service[] = [];
  for (const { name } of engines) {
    const options = { engine: name, now: () => now, httpLimits };
    services.push(resources.use(await startService(options)));
  }
  const clients = services.map((service) => resources.use(new Client(service)));
  const token = services[0]?.token ?? '';
  const random = new Random(seed);
  const send = async (requests: readonly HostileRequest[]): Promise<RawResponse[]> => {
    const rendered = requests.map((request) => render(request, token));
    const pieces = splitRandomly(Buffer.concat(rendered), random);
    if (areSingleBytes(pieces)) add(tally, SINGLE_BYTES, rendered.length);
    return compare(await Promise.all(clients.map((client) => client.send(rendered, pieces))), requests);
  };
  try {
    await play(fc.sample(hostileRequests, { seed, numRuns: length }), random, send, tally);
  } catch (cause) {
    const warnings = services.flatMap(({ log }) => log.filter((line) => !line.startsWith('{"level":30')));
    throw new Error(`seed ${seed}; the log has ${warnings.slice(-3).join('')}`, { cause });
  }
}

/** @param send pipelines requests */
async function play(
  sequence: readonly HostileRequest[],
  random: Random,
  send: (requests: readonly HostileRequest[]) => Promise<RawResponse[]>,
  tally: Record<string, number>,
): Promise<void> {
  const books = new Books();
  for (let at = 0; at < sequence.length; ) {
    const requests = sequence.slice(at, at + random.pick(PIPELINED));
    at += requests.length;
    for (const [index, response] of (await send(requests)).entries()) {
      const request = requests[index] as HostileRequest;
      withRequest(request, () => books.apply(request, response));
      add(tally, `status ${response.status}`);
      if (typeof request.query === 'object' && response.body.includes('"data":[{')) add(tally, FOUND);
    }
  }
  await books.assertStored(send);
}

/** Asserts that the responses of all engines are equal. @returns them */
function compare(
  [one = [], ...others]: readonly RawResponse[][],
  requests: readonly HostileRequest[],
): RawResponse[] {
  for (const [index, response] of one.entries()) {
    withRequest(requests[index] as HostileRequest, () => {
      assertEnvelope(response);
      assert.ok(response.status < 500, response.body);
      for (const other of others) assert.deepEqual(comparable(other[index]), comparable(response));
    });
  }
  return one;
}

function comparable(response: RawResponse | undefined): unknown[] {
  assert.ok(response);
  for (const own of ['date', 'x-request-id']) response.headers.delete(own);
  return [...response.headers, response.body];
}

/** Adds the request to the error of a failed assertion. */
function withRequest({ method, path, token = '', lines, body }: HostileRequest, check: () => void): void {
  try {
    check();
  } catch (cause) {
    const content = Buffer.from(body).toString('latin1');
    const texts = [path, token, ...lines, content].map((text) => JSON.stringify(text.slice(0, 300)));
    throw new Error(`${method} ${texts.join(' ')} (${body.length} bytes)`, { cause });
  }
}
