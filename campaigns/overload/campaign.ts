import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/statistics.ts';
import { makeToken } from '../../conformance/tokens.ts';
import { request } from '../../testkit/connection.ts';
import { PASSWORD, SECRET } from '../../testkit/service.ts';
import { createBook } from '../../testkit/service-process.ts';
import { authorizationLine } from '../book-client.ts';
import type { Campaign, CampaignOptions, Figures, Form } from '../campaign.ts';
import { launchService } from '../service.ts';
import { type Load, type Outcome, send } from './generator.ts';

const KINDS = ['GET /books', 'GET /book/{id}', 'POST /token', 'POST /book', 'searches', 'all kinds'] as const;

type Kind = (typeof KINDS)[number];

export const campaign: Campaign<OverloadForm> = {
  summary: 'four times as many requests as the service can serve, from an open-loop generator',
  recorded: ['lowest share of the peak, %', 'longest p99 of 503s, ms'],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [1, 1], kinds: KINDS, seconds: 5, connections: 2_000, isMeasured: true },
  short: {
    rounds: [1, 1],
    kinds: ['searches', 'all kinds'],
    seconds: 0.2,
    connections: 300,
    isMeasured: false,
  },
  async run(options, form) {
    let figures: Figures = {};
    for (let round = 0; round < options.rounds; round++) figures = await overload(options, form);
    return figures;
  },
};

interface OverloadForm extends Form {
  /** The requests. */
  readonly kinds: readonly Kind[];
  /** How long each load lasts. */
  readonly seconds: number;
  /** The maximum number of clients, each with one request in flight. */
  readonly connections: number;
  /** Whether the measurements are checked. */
  readonly isMeasured: boolean;
}

/** The load, as a multiple of the peak. */
const TIMES = 4;

/** The number of clients at which the peak is measured. */
const PEAK_CONNECTIONS = 64;

const GOOD_SHARE_MIN = 0.8;
const REJECTION_MS_MAX = 100;
const RECOVERY_MS = 5_000;

/** Latencies below this count as this: machines differ more. */
const LATENCY_MS_MIN = 20;

/** Overloads a service with each kind of request in turn, and asserts that it recovers. */
async function overload({ engine, report }: CampaignOptions, form: OverloadForm): Promise<Figures> {
  await using launched = await launchService(engine);
  const service = await launched.service.listening();
  const token = makeToken(SECRET);
  for (let book = 0; book < KNOWN_BOOKS; book++) await createBook(service, token, 'The Iliad');
  const requests = workloads();
  const { port } = service;
  const { seconds } = form;
  const filling = { port, seconds, requests: requests['POST /book'], connections: PEAK_CONNECTIONS };
  assertResponses(await send({ ...filling, rate: BOOKS_A_SECOND }), 'filling');

  const figures: Record<string, string> = {};
  const all: Measured[] = [];
  for (const kind of form.kinds) {
    const measured = await measure(kind, { port, seconds, requests: requests[kind] }, form);
    all.push(measured);
    figures[kind] = describe(measured);
    report(`${kind}: ${figures[kind]}`);
    if (form.isMeasured) assertGoals(kind, measured);
  }
  assert.equal((await service.stop()).code, 0);
  return {
    'lowest share of the peak, %': Math.round(100 * Math.min(...all.map(({ share }) => share))),
    'longest p99 of 503s, ms': Math.round(Math.max(...all.map(({ rejectionMs }) => rejectionMs))),
    ...figures,
  };
}

/** Searches are 503 while the books of the loads before are indexed. */
async function indexed(load: Load): Promise<void> {
  for (let tries = 0; (await send(load)).rejections > 0; tries++)
    assert.ok(tries < INDEXING_SECONDS_MAX, 'a few requests a second are rejected');
}

/** Far longer than an index takes, on any machine. */
const INDEXING_SECONDS_MAX = 120;

/** The measurements of one kind of requests. */
interface Measured {
  /** Requests per second with PEAK_CONNECTIONS clients. */
  readonly peak: number;
  /** The fraction of the peak that gets 2xx under overload. */
  readonly share: number;
  /** The 99th percentiles of the latencies of 2xx and 503 under overload. */
  readonly goodMs: number;
  readonly rejectionMs: number;
  /** That of 2xx at a quarter of the peak, before and after the overload. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

async function measure(
  kind: Kind,
  load: Omit<Load, 'rate' | 'connections'>,
  { connections, isMeasured }: OverloadForm,
): Promise<Measured> {
  const usual = { ...load, connections: PEAK_CONNECTIONS };
  await indexed({ ...usual, seconds: 1, rate: 5 });
  const closed = await send({ ...usual, rate: Number.POSITIVE_INFINITY });
  // Concurrent requests for the list share its pages, so the peak of the list is that of an open loop.
  const isShared = kind === 'GET /books';
  const most = isShared ? await send({ ...usual, rate: closed.good / load.seconds }) : closed;
  const peak = most.good / load.seconds;
  const before = await send({ ...usual, rate: peak / TIMES });
  const beyond = await send({ ...load, connections, rate: TIMES * peak });
  if (isMeasured) await sleep(RECOVERY_MS);
  const after = await send({ ...usual, rate: peak / TIMES });
  for (const outcome of [closed, most, before, beyond, after]) assertResponses(outcome, kind);
  assert.equal(after.rejections, 0, `${kind}: still 503`);
  return {
    peak,
    share: beyond.good / most.good,
    goodMs: p99(beyond, 200, 201),
    rejectionMs: p99(beyond, 503),
    beforeMs: p99(before, 200, 201),
    afterMs: p99(after, 200, 201),
  };
}

function describe({ peak, share, goodMs, rejectionMs, beforeMs, afterMs }: Measured): string {
  const [good, rejected, early, late] = [goodMs, rejectionMs, beforeMs, afterMs].map((ms) => ms.toFixed(0));
  return (
    `${(100 * share).toFixed(0)} % of the peak of ${peak.toFixed(0)}/s, p99 ${good} ms, ` +
    `of 503s ${rejected} ms, before ${early} ms, after ${late} ms`
  );
}

function assertGoals(kind: Kind, { share, rejectionMs, beforeMs, afterMs }: Measured): void {
  assert.ok(share >= GOOD_SHARE_MIN, `${kind}: only ${share} of the peak succeeded`);
  assert.ok(rejectionMs <= REJECTION_MS_MAX, `${kind}: 503s took ${rejectionMs} ms`);
  assert.ok(afterMs <= 2 * Math.max(beforeMs, LATENCY_MS_MIN), `${kind}: p99 is still ${afterMs} ms`);
}

/** Asserts that every request got the expected status, or 503. */
function assertResponses({ latenciesMs, lost, rejections }: Outcome, kind: string): void {
  assert.equal(lost, 0, `${kind}: requests without a response`);
  const statuses = Object.keys(latenciesMs).filter((status) => !['200', '201', '503'].includes(status));
  assert.deepEqual(statuses, [], kind);
  assert.equal(
    rejections,
    latenciesMs[503]?.length ?? 0,
    `${kind}: 503 without Retry-After, or not in the envelope`,
  );
}

/** @returns the 99th percentile of the latencies with these statuses, in milliseconds; 0 when there are none */
function p99({ latenciesMs }: Outcome, ...statuses: readonly number[]): number {
  const latencies = statuses.flatMap((status) => latenciesMs[status] ?? []);
  return percentile(latencies, 99) || 0;
}

/** The number of books that are read and updated one by one. */
const KNOWN_BOOKS = 100;

/** About the number of books in the list, for each second of a load. */
const BOOKS_A_SECOND = 2_000;

function workloads(): Readonly<Record<Kind, readonly string[]>> {
  const authorization = authorizationLine(SECRET);
  const create = request('POST /book', [authorization], '{"title":"The Iliad","author":"Homer","year":-750}');
  const ids = Array.from({ length: KNOWN_BOOKS }, (_, index) => index + 1);
  const find = ids.map((id) => request(`GET /book/${id}`, [authorization]));
  const update = ids.map((id) => request(`PUT /book/${id}`, [authorization], '{"year":1}'));
  return {
    'GET /books': [request('GET /books', [authorization])],
    'GET /book/{id}': find,
    'POST /token': [request('POST /token', [], JSON.stringify({ username: 'admin', password: PASSWORD }))],
    'POST /book': [create],
    searches: ['q=ili', 'title=ILIAD', 'author=homer', 'sort=-title', 'q=the&sort=year&count=true'].map(
      (query) => request(`GET /books?${query}&limit=10`, [authorization]),
    ),
    // Eight reads for two writes.
    'all kinds': ids.map((_, index) => (index % 5 > 0 ? find : index % 2 > 0 ? update : [])[index] ?? create),
  };
}
