import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../conformance/tokens.ts';
import { request } from '../../test/http/connection.ts';
import { PASSWORD, SECRET } from '../../test/http/service.ts';
import { createBook, startService } from '../../test/process/service-process.ts';
import { engines } from '../../test/support/engines.ts';
import { createFolder } from '../../test/support/folder.ts';
import type { Campaign, EngineName, Figures } from '../campaign.ts';
import { type Load, type Outcome, send } from './generator.ts';

export const campaign: Campaign = {
  summary: 'four times as many requests as the service can serve, from an open-loop generator',
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
  /** The requests. */
  readonly kinds: readonly Kind[];
  /** How long each load lasts. */
  readonly seconds: number;
  /** How many clients there are at most, each with one request under way. */
  readonly connections: number;
  /** Whether the measurements are checked. */
  readonly isMeasured: boolean;
  readonly report: (line: string) => void;
}

/** The load, as a multiple of the peak. */
const TIMES = 4;

/** How many clients it takes to see the peak. */
const PEAK_CONNECTIONS = 64;

const GOOD_SHARE_MIN = 0.8;
const REFUSAL_MS_MAX = 100;
const RECOVERY_MS = 5_000;

/** Machines differ more than what is below this. */
const USUAL_MS_MIN = 20;

/** Overloads a service with each kind of request in turn, and asserts that it recovers. */
export async function overload(options: Overload): Promise<Figures> {
  await using folder = await createFolder();
  await using address = await engines.find(({ name }) => name === options.engine)?.createAddress();
  const variables = { DB_URL: address?.dbUrl ?? '', SECRET_TOKEN: SECRET, AUTH_PASSWORD: PASSWORD };
  await using service = await startService(folder.path, variables);
  const token = makeToken(SECRET, {});
  for (let book = 0; book < KNOWN_BOOKS; book++) await createBook(service, token, 'The Iliad');
  const requests = workloads();
  const { port } = service;
  const { seconds } = options;
  const filling = { port, seconds, requests: requests['POST /book'], connections: PEAK_CONNECTIONS };
  assertAnswered(await send({ ...filling, rate: BOOKS / seconds }), 'filling');

  const figures: Record<string, number> = {};
  for (const kind of options.kinds) {
    const measured = await flood(kind, { port, seconds, requests: requests[kind] }, options);
    options.report(`${kind}: ${describe(measured)}`);
    for (const [name, value] of Object.entries(measured)) figures[`${kind}: ${name}`] = value;
    if (options.isMeasured) assertGoals(kind, measured);
  }
  assert.equal((await service.stop()).code, 0);
  return figures;
}

/** What came of too many requests of one kind. */
interface Measured {
  /** Requests that are answered in a second when there are enough clients. */
  readonly peak: number;
  /** How much of that is answered with 2xx when there are too many. */
  readonly share: number;
  readonly goodMs: number;
  readonly refusalMs: number;
  /** With a quarter of the peak, before and afterwards. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

async function flood(
  kind: Kind,
  load: Omit<Load, 'rate' | 'connections'>,
  { connections, isMeasured }: Overload,
): Promise<Measured> {
  const usual = { ...load, connections: PEAK_CONNECTIONS };
  const closed = await send({ ...usual, rate: Number.POSITIVE_INFINITY });
  // Clients who ask for the same list at the same time share its pages: so it is the peak of those who do not.
  const isShared = kind === 'GET /books';
  const most = isShared ? await send({ ...usual, rate: closed.good / load.seconds }) : closed;
  const peak = most.good / load.seconds;
  const before = await send({ ...usual, rate: peak / TIMES });
  const beyond = await send({ ...load, connections, rate: TIMES * peak });
  if (isMeasured) await sleep(RECOVERY_MS);
  const after = await send({ ...usual, rate: peak / TIMES });
  for (const outcome of [closed, most, before, beyond, after]) assertAnswered(outcome, kind);
  assert.equal(after.refusals, 0, `${kind}: still 503`);
  return {
    peak,
    share: beyond.good / most.good,
    goodMs: p99(beyond, 200, 201),
    refusalMs: p99(beyond, 503),
    beforeMs: p99(before, 200, 201),
    afterMs: p99(after, 200, 201),
  };
}

function describe({ peak, share, goodMs, refusalMs, beforeMs, afterMs }: Measured): string {
  const [good, refused, early, late] = [goodMs, refusalMs, beforeMs, afterMs].map((ms) => ms.toFixed(0));
  return (
    `${peak.toFixed(0)} requests/s peak; overloaded ${(100 * share).toFixed(0)} % of it succeed, p99 ${good} ms, ` +
    `of 503s ${refused} ms; p99 before ${early} ms, after ${late} ms`
  );
}

function assertGoals(kind: Kind, { share, refusalMs, beforeMs, afterMs }: Measured): void {
  assert.ok(share >= GOOD_SHARE_MIN, `${kind}: only ${share} of the peak succeeded`);
  assert.ok(refusalMs <= REFUSAL_MS_MAX, `${kind}: 503s took ${refusalMs} ms`);
  assert.ok(afterMs <= 2 * Math.max(beforeMs, USUAL_MS_MIN), `${kind}: p99 is still ${afterMs} ms`);
}

/** Asserts that every request got the expected status, or 503. */
function assertAnswered({ waitsMs, lost, refusals }: Outcome, kind: string): void {
  assert.equal(lost, 0, `${kind}: requests without a response`);
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

/** How many books there are for those who ask for one, … */
const KNOWN_BOOKS = 100;

/** … and about how many for those who ask for all of them. */
const BOOKS = 10_000;

const KINDS = ['GET /books', 'GET /book/{id}', 'POST /token', 'POST /book', 'searches', 'all kinds'] as const;

type Kind = (typeof KINDS)[number];

function workloads(): Readonly<Record<Kind, readonly string[]>> {
  const authorization = `Authorization: ${makeToken(SECRET, {})}`;
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
    // Eight that read for two that write.
    'all kinds': ids.map((_, index) => (index % 5 > 0 ? find : index % 2 > 0 ? update : [])[index] ?? create),
  };
}
