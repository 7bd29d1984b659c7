import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../contract/tokens.ts';
import { request } from '../../http/connection.ts';
import { assertLogTellsNothing } from '../../http/log.ts';
import { PASSWORD, SECRET } from '../../http/service.ts';
import { startService } from '../../process/service-process.ts';
import { engines } from '../../support/engines.ts';
import { createFolder } from '../../support/folder.ts';
import type { Campaign, EngineName, Figures } from '../campaign.ts';
import { type Outcome, send } from './generator.ts';

export const campaign: Campaign = {
  summary: 'four times as many requests as the service can answer, by a generator that waits for nobody',
  rounds: [1, 1],
  engines: ['SQLite', 'PostgreSQL'],
  async run({ engine, rounds, report }) {
    let figures: Figures = {};
    for (let round = 0; round < rounds; round++) {
      figures = await overload({
        engine,
        kinds: KINDS,
        seconds: 5,
        connections: 2_000,
        isMeasured: true,
        report,
      });
    }
    return figures;
  },
};

export interface Overload {
  readonly engine: EngineName;
  /** What is asked for. */
  readonly kinds: readonly Kind[];
  /** How long each load lasts. */
  readonly seconds: number;
  /** How many clients there are at most, each with one request under way. */
  readonly connections: number;
  /** Whether what is measured is held to the goals. */
  readonly isMeasured: boolean;
  readonly report: (line: string) => void;
}

/** How many times the peak comes. */
const TIMES = 4;

/** How many clients it takes to see the peak. */
const PEAK_CONNECTIONS = 64;

const GOOD_SHARE_MIN = 0.8;
const REFUSAL_MS_MAX = 100;
const RECOVERY_MS = 5_000;

/** Asks far too much of a service, of each kind of request in turn, and asserts that it is well again afterwards. */
export async function overload({
  engine,
  kinds,
  seconds,
  connections,
  isMeasured,
  report,
}: Overload): Promise<Figures> {
  await using folder = await createFolder();
  await using address = await engines.find(({ name }) => name === engine)?.createAddress();
  const variables = { DB_URL: address?.dbUrl ?? '', SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD };
  await using service = await startService(folder.path, variables);
  const figures: Record<string, number> = {};
  const requestsOf = workloads();
  const filling = {
    port: service.port,
    seconds,
    connections: PEAK_CONNECTIONS,
    requests: requestsOf['POST /book'],
  };
  assertAnswered(await send({ ...filling, rate: BOOKS / seconds }), 'filling');
  for (const kind of kinds) {
    const requests = requestsOf[kind];
    const load = { port: service.port, seconds, requests };
    const peak = await send({ ...load, rate: Number.POSITIVE_INFINITY, connections: PEAK_CONNECTIONS });
    assertAnswered(peak, kind);
    const rate = peak.good / seconds;
    const calm = await send({ ...load, rate: rate / TIMES, connections: PEAK_CONNECTIONS });
    const flood = await send({ ...load, rate: TIMES * rate, connections });
    assertAnswered(flood, kind);
    if (isMeasured) await sleep(RECOVERY_MS);
    const after = await send({ ...load, rate: rate / TIMES, connections: PEAK_CONNECTIONS });
    assertAnswered(after, kind);
    assert.equal(after.refusals, 0, `${kind}: still refused`);

    const share = flood.good / peak.good;
    const refusalMs = p99(flood, 503);
    const goodMs = p99(flood, 200, 201);
    report(
      `${kind}: peak ${rate.toFixed(0)}/s; beyond it ${(100 * share).toFixed(0)} % good with p99 ${goodMs.toFixed(0)} ms, ` +
        `${flood.refusals} refused with p99 ${refusalMs.toFixed(0)} ms; ` +
        `calm p99 before ${p99(calm, 200, 201).toFixed(1)}, after ${p99(after, 200, 201).toFixed(1)} ms`,
    );
    figures[`${kind}: peak a second`] = rate;
    figures[`${kind}: good, of the peak`] = share;
    figures[`${kind}: p99 of the good, ms`] = goodMs;
    figures[`${kind}: p99 of refusals, ms`] = refusalMs;
    if (!isMeasured) continue;
    assert.ok(share >= GOOD_SHARE_MIN, `${kind}: only ${share} of the peak was good`);
    assert.ok(refusalMs <= REFUSAL_MS_MAX, `${kind}: refusals took ${refusalMs} ms`);
  }
  const { code, output } = await service.stop();
  assert.equal(code, 0);
  assertLogTellsNothing(output.trim().split('\n'), [SECRET, PASSWORD]);
  return figures;
}

/** Asserts that every request was answered, as it should be or with a refusal. */
function assertAnswered({ waitsMs, lost, refusals }: Outcome, kind: string): void {
  assert.equal(lost, 0, `${kind}: requests without an answer`);
  const statuses = Object.keys(waitsMs).filter((status) => !['200', '201', '503'].includes(status));
  assert.deepEqual(statuses, [], kind);
  assert.equal(
    refusals,
    waitsMs[503]?.length ?? 0,
    `${kind}: 503 without Retry-After, or not in the envelope`,
  );
}

/** @returns the wait that 99 of 100 answers with these statuses had at most, in milliseconds; 0 when there are none */
function p99({ waitsMs }: Outcome, ...statuses: readonly number[]): number {
  const waits = statuses.flatMap((status) => waitsMs[status] ?? []).toSorted((one, other) => one - other);
  return waits[Math.floor(waits.length * 0.99)] ?? 0;
}

/** How many books there are for those who ask for all of them, about. */
const BOOKS = 10_000;

const KINDS = ['GET /books', 'GET /book/{id}', 'POST /token', 'POST /book', 'all kinds'] as const;

type Kind = (typeof KINDS)[number];

function workloads(): Readonly<Record<Kind, readonly string[]>> {
  const authorization = `Authorization: ${makeToken(SECRET, {})}`;
  const create = request('POST /book', [authorization], '{"title":"The Iliad","author":"Homer","year":-750}');
  const ids = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const find = ids.map((id) => request(`GET /book/${id}`, [authorization]));
  const update = ids.map((id) => request(`PUT /book/${id}`, [authorization], '{"year":1}'));
  return {
    'GET /books': [request('GET /books', [authorization])],
    'GET /book/{id}': find,
    'POST /token': [request('POST /token', [], JSON.stringify({ username: 'admin', password: PASSWORD }))],
    'POST /book': [create],
    // Eight that read for two that write.
    'all kinds': ids.map((_, index) => (index % 5 > 0 ? find : index % 2 > 0 ? update : [])[index] ?? create),
  };
}
