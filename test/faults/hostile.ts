import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import type { Book } from '../../src/book.ts';
import { outcomes } from '../../src/http/outcomes.ts';
import { type Answer, Connection } from '../http/connection.ts';
import { type Service, startService } from '../http/service.ts';
import { startCluster } from '../support/cluster.ts';
import { engines } from '../support/engines.ts';
import { type HostileRequest, hostileRequests } from './hostile-input.ts';

/** How many requests of a round go between two looks at the whole list. */
const LOOK_EVERY = 500;

/** The clock of both services stands still, so that their tokens are the same. */
const NOW = Date.now();

/**
 * Sends a sequence of hostile requests to an empty service on each engine, the same to both at the same time, and
 * asserts that they answer alike to the byte, in the envelope, without a 5xx; and that the books are then what the
 * answers said of them.
 *
 * @param seed says which sequence
 * @returns how often each status was answered
 */
export async function torment(seed: number, count: number): Promise<Map<number, number>> {
  await using addresses = new AsyncDisposableStack();
  const callers: Caller[] = [];
  for (const engine of engines) {
    const { dbUrl } = addresses.use(await engine.createAddress());
    const throttleLimits = { failuresMax: Number.MAX_SAFE_INTEGER, windowSeconds: 60 };
    const service = addresses.use(await startService({ dbUrl, now: () => NOW, throttleLimits }));
    callers.push(addresses.use(new Caller(service)));
  }
  const books = new Map<number, Book>();
  const statuses = new Map<number, number>();
  const sequence = fc.sample(hostileRequests, { seed, numRuns: count });
  for (const [index, request] of sequence.entries()) {
    const answer = await sendToAll(callers, request);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    try {
      await note(books, request, answer, callers);
      if (index % LOOK_EVERY === 0 || index === count - 1) await look(callers, books);
    } catch (cause) {
      throw new Error(`request ${index} of seed ${seed}: ${describe(request)}`, { cause });
    }
  }
  return statuses;
}

/** A client of one service, which keeps its connection for as long as the service does. */
class Caller implements Disposable {
  readonly #service: Service;
  #connection: Connection | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  async send({ method, path, token = this.#service.token, body }: HostileRequest): Promise<Answer> {
    this.#connection ??= await Connection.open(this.#service);
    const lines = [`Authorization: ${token}`, `Content-Length: ${body.length}`];
    const head = `${[`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`;
    await this.#connection.send(Buffer.concat([Buffer.from(head, 'latin1'), body]));
    const answer = await this.#connection.answer();
    if (answer.headers.get('connection') === 'close') this[Symbol.dispose]();
    return answer;
  }

  [Symbol.dispose](): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}

/** @returns the one answer that all of them gave */
async function sendToAll(callers: readonly Caller[], request: HostileRequest): Promise<Answer> {
  const answers = await Promise.all(callers.map((caller) => caller.send(request)));
  const [answer, ...others] = answers.map(({ status, headers, body }) => {
    headers.delete('date');
    return { status, headers, body };
  });
  assert.ok(answer);
  for (const other of others)
    assert.deepEqual([...other.headers, other.body], [...answer.headers, answer.body]);
  assertEnvelope(answer);
  return answer;
}

function assertEnvelope({ status, headers, body }: Answer): void {
  assert.ok(status < 500, body);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  const envelope = JSON.parse(body) as { status: number; message: string; data: unknown };
  assert.deepEqual(Object.keys(envelope), ['status', 'message', 'data']);
  assert.equal(envelope.status, status);
  const known = Object.values(outcomes).find(({ message }) => message === envelope.message);
  assert.equal(known?.status, status);
  if (status >= 400) assert.equal(envelope.data, null);
}

/** Keeps what an answer said of a book, and asserts that it is so. */
async function note(
  books: Map<number, Book>,
  { method, path }: HostileRequest,
  { status, body }: Answer,
  callers: readonly Caller[],
): Promise<void> {
  if (path === '/token') return;
  const id = Number(/^\/book\/([0-9]+|%31)[ \t]*(?:\?.*)?$/.exec(path)?.[1]?.replace('%31', '1'));
  if (status === 404 || status === 401) {
    if (status === 404) assert.ok(!books.has(id), 'there is such a book');
  } else if (method === 'DELETE' && status === 200) {
    assert.ok(books.delete(id), 'there was no such book');
  } else if (status < 300) {
    const { data } = JSON.parse(body) as { data: Book };
    assert.deepEqual(Object.keys(data), ['id', 'title', 'author', 'year']);
    if (method === 'POST') assert.ok(!books.has(data.id));
    if (method === 'GET') assert.deepEqual(data, books.get(id));
    books.set(data.id, data);
  }
  if (method === 'GET') return;
  const changed = method === 'POST' ? Math.max(0, ...books.keys()) : id;
  await assertStored(callers, changed, books.get(changed));
}

async function assertStored(callers: readonly Caller[], id: number, book: Book | undefined): Promise<void> {
  if (Number.isNaN(id)) return;
  const answer = await sendToAll(callers, read(`/book/${id}`));
  const { data } = JSON.parse(answer.body) as { data: Book | null };
  assert.deepEqual(data, book ?? null);
}

/** Asserts that the list is exactly the books, in the order of their ids. */
async function look(callers: readonly Caller[], books: ReadonlyMap<number, Book>): Promise<void> {
  const { body } = await sendToAll(callers, read('/books'));
  const { data } = JSON.parse(body) as { data: Book[] };
  assert.deepEqual(
    data,
    [...books.values()].toSorted((a, b) => a.id - b.id),
  );
}

function read(path: string): HostileRequest {
  return { method: 'GET', path, token: undefined, body: new Uint8Array() };
}

function describe({ method, path, token, body }: HostileRequest): string {
  const start = Buffer.from(body.subarray(0, 300)).toString('latin1');
  return `${method} ${path.slice(0, 100)} ${token ?? ''} ${JSON.stringify(start)} (${body.length} bytes)`;
}

/** `node test/faults/hostile.ts --rounds N`: N rounds, each with a seed of its own. */
const { values } = parseArgs({ options: { rounds: { type: 'string' } }, strict: false });
if (import.meta.main && typeof values.rounds === 'string') {
  await using cluster = await startCluster();
  process.env.TEST_POSTGRES_URL = cluster.url;
  for (let round = 1; round <= Number(values.rounds); round++) {
    const seed = Math.trunc(Math.random() * 2 ** 31);
    const statuses = await torment(seed, 4_000);
    console.log(`round ${round}, seed ${seed}:`, Object.fromEntries(statuses));
  }
}
