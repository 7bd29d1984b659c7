import assert from 'node:assert/strict';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { SECRET, type Service, startService } from '../../testkit/service.ts';
import type { Campaign, CampaignOptions, Figures } from '../campaign.ts';
import { add } from '../figures.ts';
import { Random } from '../random.ts';
import { attacksOn } from './attacks.ts';
import { Mutator } from './mutations.ts';
import { isSigned, Reference } from './reference.ts';

export const campaign: Campaign = {
  summary:
    'forged tokens, and mutations of valid ones, each compared with the result of jose; a round is one mutation',
  rounds: [1_000_000],
  engines: ['SQLite'],
  run,
};

/** The fixed time of the service and of the reference, in seconds since 1970. */
const NOW = 1_800_000_000;
const now = () => NOW * 1_000;

/** How many tokens are verified concurrently. */
const BATCH = 500;

/** One in this many tokens is also sent over HTTP. */
const TOKENS_PER_REQUEST = 20;

async function run({ rounds, seed, report }: CampaignOptions): Promise<Figures> {
  await using service = await startService({ now });
  const attacks = await attack(service);
  const tally = { mutations: rounds, 'over HTTP': 0, accepted: 0, rejected: 0 };
  const differences: Record<string, number> = {};
  const tokens = newTokens();
  const reference = new Reference(SECRET, NOW);
  const mutator = new Mutator(new Random(seed), SECRET, NOW);
  for (let done = 0; done < rounds; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, rounds - done) }, () => mutator.next());
    await Promise.all(
      batch.map(async (token) => {
        const { isValid, difference } = await reference.verify(token);
        assert.equal(tokens.verify(token) === 'valid', isValid, JSON.stringify(token));
        assert.ok(!isValid || isSigned(SECRET, token), `not signed: ${JSON.stringify(token)}`);
        tally[isValid ? 'accepted' : 'rejected']++;
        if (difference) add(differences, `unlike jose: ${difference}`);
      }),
    );
    tally['over HTTP'] += await assertSameOverHttp(
      service,
      reference,
      batch.filter(isSendable).slice(0, BATCH / TOKENS_PER_REQUEST),
    );
    if (done % 100_000 === 0) report(`${done} mutations`);
  }
  return { attacks, ...tally, ...differences };
}

/** Tries every attack twice, directly and over HTTP. @returns how many there are */
async function attack(service: Service): Promise<number> {
  const attacks = attacksOn(SECRET, NOW);
  const tokens = newTokens();
  for (const [name, token] of attacks) {
    assert.notEqual(tokens.verify(token), 'valid', name);
    assert.notEqual(tokens.verify(token), 'valid', `${name}, the second time`);
    if (isSendable(token)) assert.equal(await isAccepted(service, token), false, `${name}, over HTTP`);
  }
  return attacks.size;
}

/** Asserts that the service accepts exactly the valid tokens. @returns how many there are */
async function assertSameOverHttp(
  service: Service,
  reference: Reference,
  tokens: readonly string[],
): Promise<number> {
  using connection = await Connection.open(service);
  await connection.send(Buffer.from(tokens.map(find).join(''), 'latin1'));
  for (const token of tokens) {
    const { isValid } = await reference.verify(token);
    const { status } = await connection.response();
    assert.equal(status, isValid ? 404 : 401, `over HTTP: ${JSON.stringify(token)}`);
  }
  return tokens.length;
}

async function isAccepted(service: Service, token: string): Promise<boolean> {
  using connection = await Connection.open(service);
  await connection.send(Buffer.from(find(token), 'latin1'));
  return (await connection.response()).status === 404;
}

/** A request for a book that does not exist. */
function find(token: string): string {
  return request('GET /book/1', [`Authorization: ${token}`]);
}

/** Whether HTTP transmits it unchanged: it allows no control characters, and trims white space. */
function isSendable(token: string): boolean {
  return /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(token);
}

function newTokens(): Tokens {
  return new Tokens(new Secret(SECRET), now);
}
