import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPeakMemoryBytes } from '../../bench/services/usage.ts';
import { makeToken } from '../../conformance/tokens.ts';
import { FIXED_LIMITS } from '../../src/http/limits.ts';
import { SECRET } from '../../testkit/service.ts';
import { createBook } from '../../testkit/service-process.ts';
import type { Campaign, CampaignOptions, EngineName, Figures, Form } from '../campaign.ts';
import { add } from '../figures.ts';
import { LINUX } from '../needs.ts';
import { launchService } from '../service.ts';
import { limitMemory } from './limit.ts';
import { LONG_BOOKS, type Load, loads, SHORT_BOOKS_BODY } from './loads.ts';

export const campaign: Campaign<MemoryForm> = {
  summary:
    'many concurrent requests that need much memory, to a service with 512 MiB, which the kernel enforces for root; a round is all kinds of them',
  recorded: ['loads', 'peak memory, MiB'],
  needs: [LINUX],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [1, 1], times: 2, only: undefined },
  short: {
    rounds: [1, 1],
    times: 1,
    only: {
      SQLite: ['POST /books of 15 MiB, mixed', 'searches of long books'],
      PostgreSQL: ['POST /book of 1 MiB, mixed', 'searches of long books'],
    },
  },
  run: applyLoads,
};

interface MemoryForm extends Form {
  /** The number of requests of each client. */
  readonly times: number;
  /** The loads of each engine; undefined for all. */
  readonly only: Readonly<Record<EngineName, readonly string[]>> | undefined;
}

const MEBIBYTE = 1_024 * 1_024;
const MEMORY_MIB = 512;

/** Far longer than an index takes, on any machine. */
const INDEXING_MS_MAX = 120_000;

async function applyLoads(
  { engine, rounds, report }: CampaignOptions,
  { times, only }: MemoryForm,
): Promise<Figures> {
  const named = Object.entries(loads()).filter(([name]) => only === undefined || only[engine].includes(name));
  const counts: Record<string, number> = {};
  let most = { peakMib: 0, name: '' };
  for (let round = 0; round < rounds; round++) {
    for (const [name, load] of named) {
      const { peakMib, statuses } = await applyLoad(engine, load, times);
      report(`${name}: ${peakMib} MiB, ${JSON.stringify(statuses)}`);
      for (const [status, count] of Object.entries(statuses)) add(counts, `status ${status}`, count);
      if (peakMib > most.peakMib) most = { peakMib, name };
    }
  }
  return { loads: named.length, ...counts, 'peak memory, MiB': most.peakMib, 'by the load': most.name };
}

/** The result of a load. */
interface LoadResult {
  /** The peak memory of the service, in MiB. */
  readonly peakMib: number;
  /** How many requests got each status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Sends a load to a new service with little memory, and asserts that every request gets success or 503, and that the
 * service still serves.
 *
 * @param times the number of requests of each client
 */
async function applyLoad(engine: EngineName, load: Load, times: number): Promise<LoadResult> {
  using limits = new DisposableStack();
  await using launched = await launchService(engine, { HISTORY: 'on' }, ['--max-semi-space-size=8']);
  const { service } = launched;
  limits.use(limitMemory(service.pid, MEMORY_MIB * MEBIBYTE));
  await service.listening();
  const token = makeToken(SECRET);
  using clients = new Clients(service.port, token);
  if (load.hasShortBooks)
    assert.equal(await clients.send({ clients: 1, start: 'POST /books', body: SHORT_BOOKS_BODY }, 0), 201);
  if (load.books !== undefined) {
    for (const body of load.books)
      assert.equal(await clients.send({ clients: 1, start: 'POST /books', body }, 0), 201);
    // Searches get 503 until there is an index of the books.
    const deadline = performance.now() + INDEXING_MS_MAX;
    while ((await clients.send(load, 0)) === 503) {
      assert.ok(performance.now() < deadline, 'one client alone is rejected');
      await sleep(200);
    }
    // What a service may have learned from short books is not true of the long ones.
    for (let time = 0; load.hasShortBooks && time < 3; time++)
      assert.equal(await clients.send({ clients: 1, start: 'GET /books?limit=1000' }, time), 200);
  }

  const statuses: Record<string, number> = {};
  const areTooLong = Buffer.byteLength(load.body ?? '') * load.clients > FIXED_LIMITS.bodyBytesAtOnce;
  const hold = areTooLong ? new Hold() : undefined;
  await Promise.all(
    Array.from({ length: load.clients }, async (_, client) => {
      for (let time = 0; time < times; time++) {
        const status = await clients.send(load, client + time * load.clients, hold);
        add(statuses, `${status}`);
      }
    }),
  );
  const { 200: found = 0, 201: created = 0, 503: rejected = 0, ...others } = statuses;
  assert.deepEqual(others, {});
  assert.ok(found + created > 0, `all of ${rejected} requests were rejected`);
  const peakMib = Math.round(readPeakMemoryBytes(service.pid) / MEBIBYTE);
  assert.ok(peakMib < MEMORY_MIB, `${peakMib} MiB`);
  await createBook(service, token, 'The Iliad');
  assert.equal((await service.stop()).code, 0);
  return { peakMib, statuses };
}

/** The longest time until one of too many bodies is rejected. */
const REJECTION_MS_MAX = 30_000;

/**
 * Holds back the ends of bodies that are too long together until one is rejected: on a slow machine, the service could else process each
 * before the next one arrives.
 */
class Hold {
  readonly #rejected = Promise.withResolvers<void>();
  readonly end = Promise.race([this.#rejected.promise, sleep(REJECTION_MS_MAX, undefined, { ref: false })]);

  release(): void {
    this.#rejected.resolve();
  }
}

/** Clients of a service, each with its own connection. */
class Clients implements Disposable {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;
  readonly #token: string;

  constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
  }

  /** Sends a request of a load, and reads the response to its end. @returns its status */
  async send(
    { start, firstId = 1, headers = {}, body = '' }: Load,
    number: number,
    hold?: Hold,
  ): Promise<number> {
    const [method, target = ''] = start.split(' ');
    const own = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('{number}', `${number}`),
    ]);
    const sent = request({
      agent: this.#agent,
      port: this.#port,
      host: '127.0.0.1',
      method,
      path: target.replace('{id}', `${firstId + (number % LONG_BOOKS)}`),
      headers: {
        authorization: this.#token,
        'content-length': Buffer.byteLength(body),
        ...(Object.fromEntries(own) as Record<string, string>),
      },
    });
    if (hold) {
      sent.write(body.slice(0, -1));
      void hold.end.then(() => sent.end(body.slice(-1)));
      // Once it has a response, its end may be too late.
      sent.on('error', () => {});
    } else sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    hold?.release();
    response.resume();
    await once(response, 'end');
    if (response.statusCode === 503) assert.equal(response.headers['retry-after'], '1');
    return response.statusCode ?? 0;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
