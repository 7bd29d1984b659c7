import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RefusedError, Session } from '../../client/index.ts';
import { CREDENTIALS, hasty } from './clients.ts';
import {
  LIFETIME_SECONDS,
  makeToken,
  numberOf,
  type Reaction,
  ScriptedServer,
  type SeenRequest,
  times,
  tokenNumber,
} from './scripted-server.ts';

const BOOK = { id: 7, title: 'The Iliad', author: 'Homer', year: -750 };
const FOUND: Reaction = { status: 200, data: BOOK };
const INVALID_TOKEN: Reaction = { status: 401, message: 'Invalid token' };
const INVALID_CREDENTIALS: Reaction = { status: 401, message: 'Invalid credentials' };
const MINUTES_MS = 60_000;

/** The numbers of the tokens of the requests. */
function tokensOf(server: ScriptedServer): number[] {
  return server.requests.map(({ headers }) => numberOf(headers.authorization));
}

describe('A client signs in', () => {
  test('with username and password, at the first call', async () => {
    await using server = await ScriptedServer.start([FOUND]);
    const { client } = hasty(server);
    assert.equal(server.signIns.length, 0);
    await client.find(7);
    const [signIn] = server.signIns;
    assert.deepEqual([signIn?.method, signIn?.path], ['POST', '/token']);
    assert.deepEqual(JSON.parse(signIn?.body ?? ''), CREDENTIALS);
    assert.equal(signIn?.headers.authorization, undefined);
    assert.deepEqual(tokensOf(server), [1]);
  });

  test('once for concurrent and later calls', async () => {
    await using server = await ScriptedServer.start(times(25, FOUND));
    const { client } = hasty(server);
    await Promise.all(Array.from({ length: 20 }, () => client.find(7)));
    for (let call = 0; call < 5; call++) await client.find(7);
    assert.equal(server.signIns.length, 1);
    assert.deepEqual(tokensOf(server), Array(25).fill(1));
  });

  test('again shortly before the token expires', async () => {
    await using server = await ScriptedServer.start([FOUND, FOUND, FOUND]);
    const hastyClient = hasty(server);
    await hastyClient.client.find(7);
    hastyClient.clock += 13 * MINUTES_MS;
    await hastyClient.client.find(7);
    hastyClient.clock += 1.5 * MINUTES_MS;
    await hastyClient.client.find(7);
    assert.deepEqual(tokensOf(server), [1, 1, 2]);
  });

  test('according to the expiry of each token', async () => {
    const now = Date.now() / 1_000;
    const signIns = [300, 7_200].map((seconds, index) => ({
      status: 200,
      data: { token: makeToken(index + 1, now + seconds) },
    }));
    await using server = await ScriptedServer.start(times(4, FOUND), signIns);
    const hastyClient = hasty(server);
    for (const minutes of [0, 3, 2, 110]) {
      hastyClient.clock += minutes * MINUTES_MS;
      await hastyClient.client.find(7);
    }
    assert.deepEqual(tokensOf(server), [1, 1, 2, 2]);
  });

  test('once for concurrent calls whose token is rejected', async () => {
    const step = ({ headers }: SeenRequest) =>
      numberOf(headers.authorization) === 1 ? INVALID_TOKEN : FOUND;
    await using server = await ScriptedServer.start([FOUND, ...times(20, step)]);
    const { client } = hasty(server);
    await client.find(7);
    const books = await Promise.all(Array.from({ length: 10 }, () => client.find(7)));
    assert.ok(books.every((book) => book?.id === 7));
    assert.equal(server.signIns.length, 2);
    assert.equal(server.requests.length, 21);
  });

  test('again for any call whose token is rejected, and repeats it with the new one', async () => {
    const created: Reaction = { status: 201, data: BOOK };
    await using server = await ScriptedServer.start([
      INVALID_TOKEN,
      created,
      INVALID_TOKEN,
      { status: 201, data: [BOOK] },
      INVALID_TOKEN,
      FOUND,
      INVALID_TOKEN,
      { status: 200 },
      INVALID_TOKEN,
      { status: 200, data: [BOOK] },
    ]);
    const { client } = hasty(server);
    assert.equal((await client.create(BOOK)).id, 7);
    assert.deepEqual(await client.createMany([BOOK]), [BOOK]);
    assert.equal((await client.update(7, BOOK))?.id, 7);
    assert.equal(await client.delete(7), true);
    for await (const book of client.list()) assert.deepEqual(book, BOOK);
    assert.deepEqual(tokensOf(server), [1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
    const [first, second] = server.requests;
    assert.equal(first?.body, second?.body);
    assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
  });

  test('only once for a call: when a new token is rejected, the call throws 401', async () => {
    await using server = await ScriptedServer.start([INVALID_TOKEN, INVALID_TOKEN]);
    await assert.rejects(hasty(server).client.find(7), { status: 401, message: 'Invalid token' });
    assert.equal(server.requests.length, 2);
  });
});

describe('A wrong clock', () => {
  for (const [wrong, offMs] of [
    ['a day ahead', 24 * 60 * MINUTES_MS],
    ['14.5 minutes ahead', 14.5 * MINUTES_MS],
    ['a day behind', -24 * 60 * MINUTES_MS],
  ] as const) {
    test(`${wrong} has no effect when the response has a Date`, async () => {
      await using server = await ScriptedServer.start(times(4, FOUND));
      const hastyClient = hasty(server);
      hastyClient.clock += offMs;
      await hastyClient.client.find(7);
      await hastyClient.client.find(7);
      hastyClient.clock += 14.5 * MINUTES_MS;
      await hastyClient.client.find(7);
      await hastyClient.client.find(7);
      assert.deepEqual(tokensOf(server), [1, 1, 2, 2]);
    });

    test(`${wrong} without a Date causes no sign-in for each call`, async () => {
      const script = [FOUND, FOUND, INVALID_TOKEN, FOUND, FOUND];
      const signIns = [1, 2].map((number) => ({
        status: 200,
        data: { token: makeToken(number, Date.now() / 1_000 + LIFETIME_SECONDS) },
        headers: { Date: '-' },
      }));
      await using server = await ScriptedServer.start(script, signIns);
      const hastyClient = hasty(server);
      hastyClient.clock += offMs;
      await hastyClient.client.find(7);
      await hastyClient.client.find(7);
      hastyClient.clock += 15 * MINUTES_MS;
      await hastyClient.client.find(7);
      await hastyClient.client.find(7);
      assert.deepEqual(tokensOf(server), [1, 1, 1, 2, 2]);
    });
  }
});

describe('A token provider', () => {
  test('is called for each call, and once more when its token is rejected', async () => {
    await using server = await ScriptedServer.start([FOUND, INVALID_TOKEN, FOUND]);
    const calls: (string | undefined)[] = [];
    const token = async (rejected?: string) => {
      calls.push(rejected);
      return makeToken(calls.length, 0);
    };
    const { client } = hasty(server, { token });
    await client.find(7);
    await client.find(7);
    assert.deepEqual(tokensOf(server), [1, 2, 3]);
    assert.deepEqual(calls, [undefined, undefined, makeToken(2, 0)]);
    assert.equal(server.signIns.length, 0);
  });

  test('may return another rejected token, or the same: the call throws 401', async () => {
    await using server = await ScriptedServer.start(times(3, INVALID_TOKEN));
    let count = 0;
    const others = hasty(server, { token: async () => makeToken(++count, 0) }).client;
    await assert.rejects(others.find(7), { status: 401, message: 'Invalid token' });
    assert.deepEqual(tokensOf(server), [1, 2]);
    const same = hasty(server, { token: async () => makeToken(9, 0) }).client;
    await assert.rejects(same.find(7), { status: 401, message: 'Invalid token' });
    assert.deepEqual(tokensOf(server), [1, 2, 9]);
  });

  test('that rejects causes the error of the call, which can be aborted meanwhile', async () => {
    await using server = await ScriptedServer.start([]);
    const failing = hasty(server, { token: () => Promise.reject(new Error('not signed in')) }).client;
    await assert.rejects(failing.find(7), { message: 'not signed in' });
    const waiting = hasty(server, { token: () => new Promise(() => {}) }).client;
    await assert.rejects(waiting.find(7, { signal: AbortSignal.timeout(10) }), { name: 'TimeoutError' });
    assert.equal(server.requests.length, 0);
  });
});

describe('A session', () => {
  test('calls its hook once for concurrent calls, and again when the service rejects the token', async () => {
    const step = ({ headers }: SeenRequest) =>
      numberOf(headers.authorization) === 1 ? INVALID_TOKEN : FOUND;
    await using server = await ScriptedServer.start([FOUND, ...times(20, step)]);
    let signIns = 0;
    const session = new Session(async () => ({ text: makeToken(++signIns, 0), expiresAt: Infinity }));
    const { client } = hasty(server, { token: session.provideToken });
    await client.find(7);
    await Promise.all(Array.from({ length: 10 }, () => client.find(7)));
    assert.equal(signIns, 2);
    assert.equal(session.token?.text, makeToken(2, 0));
  });

  test('uses a token that is set until a minute before it expires', async () => {
    let now = 0;
    const session = new Session(
      async () => ({ text: 'new', expiresAt: 10 * MINUTES_MS }),
      () => now,
    );
    session.token = { text: 'set', expiresAt: 2 * MINUTES_MS };
    assert.equal(await session.provideToken(), 'set');
    now = MINUTES_MS;
    assert.equal(session.token, undefined);
    assert.equal(await session.provideToken(), 'new');
  });

  test('has no token after a sign-in that fails, and the call gets the error', async () => {
    await using server = await ScriptedServer.start([]);
    const session = new Session(() => Promise.reject(new Error('no user has signed in')));
    const { client } = hasty(server, { token: session.provideToken });
    await assert.rejects(client.find(7), { message: 'no user has signed in' });
    assert.equal(session.token, undefined);
  });
});

describe('A token', () => {
  for (const token of ['no.token.9', 'nothing', `e30.${btoa('{"exp":"soon"}')}.9`, 'e30.e30.9']) {
    test(`without a readable expiry is used until the service rejects it: ${token}`, async () => {
      const signIn: Reaction = { status: 200, data: { token } };
      await using server = await ScriptedServer.start([FOUND, FOUND, INVALID_TOKEN, FOUND], [signIn]);
      const { client } = hasty(server);
      for (let call = 0; call < 3; call++) await client.find(7);
      const sent = server.requests.map(({ headers }) => headers.authorization);
      assert.deepEqual(sent.slice(0, 3), [token, token, token]);
      assert.equal(numberOf(sent[3]), 2);
    });
  }

  test('of the caller is sent unchanged, and not renewed', async () => {
    const token = makeToken(9, Date.now() / 1_000 - 3_600);
    await using server = await ScriptedServer.start([FOUND, INVALID_TOKEN]);
    const { client } = hasty(server, { token });
    await client.find(7);
    await assert.rejects(client.find(7), { status: 401, message: 'Invalid token' });
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      [token, token],
    );
    assert.equal(server.signIns.length, 0);
  });
});

describe('A sign-in', () => {
  test('that is rejected is not retried, and the call is not sent', async () => {
    await using server = await ScriptedServer.start([], [INVALID_CREDENTIALS]);
    await assert.rejects(hasty(server).client.create({}), (error) => {
      assert.ok(error instanceof RefusedError);
      assert.deepEqual([error.status, error.message], [401, 'Invalid credentials']);
      assert.equal(error.mayHaveHappened, false);
      return true;
    });
    assert.equal(server.signIns.length, 1);
    assert.equal(server.requests.length, 0);
  });

  test('that has failed is repeated with the next call', async () => {
    await using server = await ScriptedServer.start([FOUND], [INVALID_CREDENTIALS]);
    const { client } = hasty(server);
    await assert.rejects(client.find(7));
    assert.equal((await client.find(7))?.id, 7);
    assert.deepEqual(tokensOf(server), [2]);
  });

  test('is retried while the service is unavailable', async () => {
    const unavailable: Reaction = { status: 503, headers: { 'Retry-After': '1' } };
    const throttled: Reaction = { status: 429, headers: { 'Retry-After': '5' } };
    await using server = await ScriptedServer.start([FOUND], [unavailable, 'cut', throttled, tokenNumber(1)]);
    const { client, waits } = hasty(server, {}, 0);
    assert.equal((await client.find(7))?.id, 7);
    assert.deepEqual(waits, [1_000, 0, 5_000]);
  });

  test('after too many failures throws 429 with Retry-After', async () => {
    const throttled: Reaction = {
      status: 429,
      message: 'Too many requests',
      headers: { 'Retry-After': '60' },
    };
    await using server = await ScriptedServer.start([], [throttled]);
    await assert.rejects(hasty(server).client.find(7), { status: 429, retryAfterSeconds: 60 });
    assert.equal(server.signIns.length, 1);
  });

  for (const data of [null, {}, { token: 7 }]) {
    test(`is unreadable without a token: ${JSON.stringify(data)}`, async () => {
      await using server = await ScriptedServer.start([], [{ status: 200, data }]);
      const noResponse = { name: 'NoResponseError', reason: 'unreadable', mayHaveHappened: false };
      await assert.rejects(hasty(server).client.create({}), noResponse);
    });
  }

  test('that fails rejects all calls that share it', async () => {
    await using server = await ScriptedServer.start([], [INVALID_CREDENTIALS]);
    const { client } = hasty(server);
    const calls = await Promise.allSettled([client.find(7), client.create({}), client.delete(7)]);
    for (const call of calls) assert.ok(call.status === 'rejected' && call.reason instanceof RefusedError);
    assert.equal(server.signIns.length, 1);
  });
});
