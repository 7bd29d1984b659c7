import assert from 'node:assert/strict';
import type { Book } from '../../src/book/book.ts';
import { Connection } from '../../test/http/connection.ts';
import { type Service, startService } from '../../test/http/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { areSingleBytes, sendInPieces, splitRandomly } from '../pieces.ts';
import { Random } from '../random.ts';
import { endingsWith } from './endings.ts';
import { BOOKS, CLIENTS, type Exchange, Exchanges } from './exchanges.ts';

export const campaign: Campaign = {
  summary:
    'pipelined requests, valid ones and then malformed HTTP, in arbitrary pieces; a round is a connection',
  rounds: [15_000, 5_000],
  engines: ['SQLite', 'PostgreSQL'],
  run,
};

async function run({ engine, rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using service = await startService({ engine });
  await createBooks(service);
  const random = new Random(seed);
  const exchanges = new Exchanges(random, service.authorization);
  const endings = [...endingsWith(service.authorization)];
  const tally = { connections: rounds, 'in pieces of one byte': 0, endings: endings.length, answers: 0 };
  for (let round = 0; round < rounds; round += CLIENTS) {
    const talks = Array.from({ length: Math.min(CLIENTS, rounds - round) }, (_, index) => {
      const asked = Array.from({ length: random.below(8) }, () => exchanges.next(index));
      // Every ending has its turn, and now and then there is none.
      const [name, ending] = random.below(20) === 0 ? [] : (endings[(round + index) % endings.length] ?? []);
      tally.answers += asked.length + (ending ? 1 : 0);
      const bytes = [...asked, ...(ending ? [ending] : [])].map((each) => each.bytes).join('');
      const behind = ending ? exchanges.never().repeat(random.below(3)) : '';
      const pieces = splitRandomly(Buffer.from(bytes + behind, 'latin1'), random);
      if (areSingleBytes(pieces)) tally['in pieces of one byte']++;
      return { name, asked, ending, pieces };
    });
    await Promise.all(talks.map((each) => talk(service, each)));
    if (round % 5_000 < CLIENTS) report(`${round} connections`);
  }
  await assertEffects(service, exchanges);
  return tally;
}

/** What is sent on a connection, and what is answered. */
interface Talk {
  readonly name: string | undefined;
  readonly asked: readonly Exchange[];
  readonly ending: Exchange | undefined;
  readonly pieces: readonly Buffer[];
}

/** Asserts that every request has its own answer, and that nothing else is answered. */
async function talk(service: Service, { name, asked, ending, pieces }: Talk): Promise<void> {
  // Which answer belongs to which request is judged here; where some are malformed, the description cannot say it.
  using connection = await Connection.open({ port: service.port });
  const sent = sendInPieces(connection, pieces);
  try {
    for (const { isToHead, isExpecting, check } of asked) {
      if (isExpecting) assert.equal((await connection.answer()).status, 100);
      check(await connection.answer(isToHead));
    }
    ending?.check(await connection.answer());
    await sent;
    connection.finish();
    assert.equal(await connection.rest(), '');
  } catch (cause) {
    throw new Error(
      `${name ?? 'no ending'}: ${JSON.stringify(Buffer.concat(pieces).toString('latin1', 0, 3_000))}`,
      { cause },
    );
  }
}

async function createBooks(service: Service): Promise<void> {
  for (let id = 1; id <= BOOKS; id++) {
    await service.fetch('POST', '/book', JSON.stringify({ title: `book ${id}` }));
  }
}

/** Asserts that every request was carried out once, and that what came behind an ending never was. */
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
