import assert from 'node:assert/strict';
import { test } from 'node:test';
import { add } from '../../campaigns/figures.ts';
import { Random } from '../../campaigns/random.ts';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { SECRET, type Service, startService } from '../../testkit/service.ts';
import { Mutator } from './token-mutator.ts';
import { isSigned, Reference } from './token-reference.ts';

/** The fixed time of the service and of the reference, in seconds since 1970. */
const NOW = 1_800_000_000;
const now = () => NOW * 1_000;

const MUTATIONS = 4_000;

/** One in this many tokens is also sent over HTTP. */
const TOKENS_PER_REQUEST = 20;

const reference = new Reference(SECRET, NOW);

test('of 4,000 mutations of tokens exactly those are accepted that jose accepts, except for documented differences', async () => {
  const tokens = new Tokens(new Secret(SECRET), now);
  const mutator = new Mutator(new Random(Date.now() % 2 ** 31), SECRET, NOW);
  const tally: Record<string, number> = {};
  const sent: string[] = [];
  for (let index = 0; index < MUTATIONS; index++) {
    const token = mutator.next();
    const { isValid, difference } = await reference.verify(token);
    assert.equal(tokens.verify(token) === 'valid', isValid, JSON.stringify(token));
    assert.ok(!isValid || isSigned(SECRET, token), `not signed: ${JSON.stringify(token)}`);
    add(tally, isValid ? 'accepted' : 'rejected');
    if (difference) add(tally, difference);
    if (index % TOKENS_PER_REQUEST === 0 && isSendable(token)) sent.push(token);
  }
  // Otherwise the mutations are too large, or too small.
  assert.ok(Number(tally.accepted) > 400 && Number(tally.rejected) > 400, JSON.stringify(tally));
  for (const decided of [
    'base64url that is not canonical',
    'the critical extension b64',
    'iat that is no number',
  ]) {
    assert.ok(Number(tally[decided]) > 0, decided);
  }
  await using service = await startService({ now });
  await assertSameOverHttp(service, sent);
});

/** Asserts that the service accepts exactly the valid tokens. */
async function assertSameOverHttp(service: Service, tokens: readonly string[]): Promise<void> {
  using connection = await Connection.open(service);
  for (const token of tokens) {
    const { isValid } = await reference.verify(token);
    await connection.send(Buffer.from(request('GET /book/1', [`Authorization: ${token}`]), 'latin1'));
    const { status } = await connection.response();
    assert.equal(status, isValid ? 404 : 401, `over HTTP: ${JSON.stringify(token)}`);
  }
}

/** Whether HTTP transmits it unchanged: it allows no control characters, and trims white space. */
function isSendable(token: string): boolean {
  return /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(token);
}
