import assert from 'node:assert/strict';
import type { Book } from '../../src/book/contract.ts';
import { Connection } from '../../testkit/connection.ts';
import { type Service, startService } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { areSingleBytes, sendInPieces, splitRandomly } from '../pieces.ts';
import { Random } from '../random.ts';
import { closingRequests } from './closing-requests.ts';
import { BOOKS, CLIENTS, type Exchange, Exchanges } from './exchanges.ts';

export const campaign: Campaign = {
  summary:
    'pipelined requests, valid ones and then malformed HTTP, in arbitrary pieces; a round is a connection',
  recorded: ['connections', 'responses'],
  engines: ['SQLite', 'PostgreSQL'],
  full: { rounds: [15_000, 5_000] },
  short: { rounds: [160, 160] },
  run,
};

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using service = await startService({ engine });
  await createBooks(service);
  const random = new Random(seed);
  const exchanges = new Exchanges(random, service.authorization);
  const closing = [...closingRequests(service.authorization)];
  const tally = {
    connections: rounds,
    'in pieces of one byte': 0,
    'closing requests': closing.length,
    responses: 0,
  };
  for (let round = 0; round < rounds; round += CLIENTS) {
    const sequences = Array.from({ length: Math.min(CLIENTS, rounds - round) }, (_, index) => {
      const requests = Array.from({ length: random.below(8) }, () => exchanges.next(index));
      // Each closing request in turn, and in one of 20 sequences none.
      const [name, last] = random.below(20) === 0 ? [] : (closing[(round + index) % closing.length] ?? []);
      tally.responses += requests.length + (last ? 1 : 0);
      const bytes = [...requests, ...(last ? [last] : [])].map((each) => each.bytes).join('');
      const ignored = last ? exchanges.ignored().repeat(random.below(3)) : '';
      const pieces = splitRandomly(Buffer.from(bytes + ignored, 'latin1'), random);
      if (areSingleBytes(pieces)) tally['in pieces of one byte']++;
      return { name, requests, last, pieces };
    });
    await Promise.all(sequences.map((each) => sendSequence(service, each)));
    if (round % 5_000 < CLIENTS) report(`${round} connections`);
  }
  await assertEffects(service, exchanges);
  return tally;
}

/** The requests on a connection. */
interface Sequence {
  /** That of the closing request. */
  readonly name: string | undefined;
  readonly requests: readonly Exchange[];
  /** The closing request. */
  readonly last: Exchange | undefined;
  readonly pieces: readonly Buffer[];
}

/** Asserts that every request gets its own response, and that there is no other. */
async function sendSequence(service: Service, { name, requests, last, pieces }: Sequence): Promise<void> {
  // Without a validation against the description, which cannot match responses to malformed requests.
  using connection = await Connection.open({ port: service.port });
  const sent = sendInPieces(connection, pieces);
  try {
    for (const { isToHead, isExpecting, check } of requests) {
      if (isExpecting) assert.equal((await connection.response()).status, 100);
      check(await connection.response(isToHead));
    }
    last?.check(await connection.response());
    await sent;
    connection.finish();
    assert.equal(await connection.rest(), '');
  } catch (cause) {
    throw new Error(
      `${name ?? 'no closing request'}: ${JSON.stringify(Buffer.concat(pieces).toString('latin1', 0, 3_000))}`,
      { cause },
    );
  }
}

async function createBooks(service: Service): Promise<void> {
  for (let id = 1; id <= BOOKS; id++) {
    await service.fetch('POST', '/book', JSON.stringify({ title: `book ${id}` }));
  }
}

/** Asserts that every request was executed once, and none after a closing request. */
async function assertEffects(service: Service, { created }: Exchanges): Promise<void> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: Book[] };
  assert.deepEqual(
    data
      .slice(BOOKS)
      .map(({ title }) => title)
      .toSorted(),
    [...created].toSorted(),
  );
}
