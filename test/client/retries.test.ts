import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BookClient, NoResponseError, RefusedError } from '../../client/index.ts';
import { hasty } from './clients.ts';
import { type Reaction, ScriptedServer, type Step, times, tokenNumber } from './scripted-server.ts';

const BOOK = { id: 7, title: 'The Iliad', author: 'Homer', year: -750 };
const FOUND: Reaction = { status: 200, data: BOOK };
const UNAVAILABLE: Reaction = {
  status: 503,
  message: 'Service unavailable',
  headers: { 'Retry-After': '1' },
};

const IF_MATCH = { ifMatch: '"1"' };

/** Calls whose retry could undo a change that another client has made after the first attempt. */
const NOT_RETRYABLE: Record<string, (client: BookClient) => Promise<unknown>> = {
  'update without ifMatch': (client) => client.update(7, { year: -750 }),
  'delete without ifMatch': (client) => client.delete(7),
  'restore without ifMatch': (client) => client.restore(7),
  restoreMany: (client) => client.restoreMany([7]),
  'updateMany without an ifMatch': (client) =>
    client.updateMany([
      { id: 7, deleted: true },
      { id: 8, year: 1, ...IF_MATCH },
    ]),
};

/** Retryable calls. */
const RETRYABLE: Record<string, [call: (client: BookClient) => Promise<unknown>, success: Reaction]> = {
  find: [(client) => client.find(7), FOUND],
  list: [(client) => client.list().pages().next(), { status: 200, data: [BOOK] }],
  'update with ifMatch': [(client) => client.update(7, { year: -750 }, IF_MATCH), FOUND],
  'delete with ifMatch': [(client) => client.delete(7, IF_MATCH), { status: 200 }],
  'restore with ifMatch': [(client) => client.restore(7, IF_MATCH), FOUND],
  create: [(client) => client.create({ title: 'The Iliad' }), { status: 201, data: BOOK }],
  createMany: [(client) => client.createMany([{ title: 'The Iliad' }]), { status: 201, data: [BOOK] }],
  'updateMany with each ifMatch': [
    (client) => client.updateMany([{ id: 7, deleted: true, ...IF_MATCH }]),
    { status: 200, data: [null] },
  ],
};

/** Temporary errors. */
const TEMPORARY: Record<string, Reaction> = {
  'a broken connection': 'cut',
  'a connection that breaks within the body': 'cut in the content',
  '429': { status: 429, message: 'Too many requests' },
  '503': UNAVAILABLE,
  'a 502 of a proxy': { status: 502, content: '<h1>Bad Gateway</h1>' },
  'a 504 of a proxy': { status: 504, content: '' },
};

for (const [name, [call, success]] of Object.entries(RETRYABLE)) {
  describe(`${name} is retried`, () => {
    for (const [error, reaction] of Object.entries(TEMPORARY)) {
      test(`after ${error}, unchanged`, async () => {
        await using server = await ScriptedServer.start([reaction, reaction, success]);
        const { client, waits } = hasty(server);
        assert.ok(await call(client));
        assert.equal(server.requests.length, 3);
        assert.equal(waits.length, 2);
        const [first, ...others] = server.requests;
        for (const other of others) assert.deepEqual(other, first);
      });
    }

    test('after a timeout', async () => {
      await using server = await ScriptedServer.start(['silence', 'silence in the content', success]);
      const { client } = hasty(server, { timeoutMs: 100 });
      // A slow machine may exceed the timeout again.
      const result = await call(client).catch((error: unknown) => error);
      assert.ok(server.requests.length >= 3 || result instanceof NoResponseError);
    });

    test('up to the maximum, and then throws the last error', async () => {
      await using server = await ScriptedServer.start(times(5, UNAVAILABLE));
      const { client, waits } = hasty(server);
      await assert.rejects(call(client), (error) => {
        assert.ok(error instanceof RefusedError);
        assert.equal(error.status, 503);
        assert.equal(error.message, 'Service unavailable');
        assert.equal(error.retryAfterSeconds, 1);
        return true;
      });
      assert.equal(server.requests.length, 5);
      assert.equal(waits.length, 4);
    });

    test('up to attemptsMax', async () => {
      await using server = await ScriptedServer.start(['cut', 'cut']);
      const { client, waits } = hasty(server, { attemptsMax: 2 });
      await assert.rejects(
        call(client),
        (error) => error instanceof NoResponseError && error.reason === 'network',
      );
      assert.equal(server.requests.length, 2);
      assert.equal(waits.length, 1);
    });

    for (const [status, message] of [
      [400, 'Invalid input'],
      [404, 'Not found'],
      [500, 'Internal server error'],
    ] as const) {
      test(`but not after ${status}`, async () => {
        await using server = await ScriptedServer.start([{ status, message }]);
        const { client } = hasty(server);
        await assert.rejects(call(client), (error) => {
          assert.ok(error instanceof RefusedError);
          assert.deepEqual([error.status, error.message], [status, message]);
          return true;
        });
        assert.equal(server.requests.length, 1);
      });
    }

    test('but not after a response that is not from the service', async () => {
      await using server = await ScriptedServer.start([{ status: 200, content: '<h1>Welcome</h1>' }]);
      const { client } = hasty(server);
      await assert.rejects(call(client), { name: 'NoResponseError', reason: 'unreadable' });
      assert.equal(server.requests.length, 1);
    });
  });
}

for (const [name, call] of Object.entries(NOT_RETRYABLE)) {
  describe(`${name} is not retried`, () => {
    for (const [error, reaction] of Object.entries(TEMPORARY)) {
      test(`after ${error}`, async () => {
        await using server = await ScriptedServer.start([reaction]);
        const { client } = hasty(server);
        await assert.rejects(call(client));
        assert.equal(server.requests.length, 1);
      });
    }
  });
}

describe('The Idempotency-Key of create', () => {
  test('differs between calls, and is the same for all attempts', async () => {
    const created: Reaction = { status: 201, data: BOOK };
    await using server = await ScriptedServer.start(['cut', UNAVAILABLE, created, created]);
    const { client } = hasty(server);
    await client.create({ title: 'The Iliad' });
    await client.create({ title: 'The Iliad' });
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    assert.match(String(keys[0]), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.deepEqual(keys.slice(0, 3), [keys[0], keys[0], keys[0]]);
    assert.notEqual(keys[3], keys[0]);
  });

  test('can be given by the caller, also of createMany', async () => {
    const created = { status: 201, data: BOOK };
    await using server = await ScriptedServer.start([created, created]);
    const { client } = hasty(server);
    await client.create({}, { idempotencyKey: 'order-17' });
    await client.createMany([], { idempotencyKey: 'order-17' });
    for (const { headers } of server.requests) assert.equal(headers['idempotency-key'], 'order-17');
  });

  test('that was used for another book causes 422', async () => {
    const message = 'Idempotency key reused';
    await using server = await ScriptedServer.start([{ status: 422, message }]);
    await assert.rejects(hasty(server).client.create({}, { idempotencyKey: 'order-17' }), {
      status: 422,
      message,
    });
    assert.equal(server.requests.length, 1);
  });

  test('goes with the fields at the time of the call, even if the object changes later', async () => {
    await using server = await ScriptedServer.start(['cut', { status: 201, data: BOOK }]);
    const fields = { title: 'The Iliad' };
    const created = hasty(server).client.create(fields);
    fields.title = 'The Odyssey';
    await created;
    const bodies = server.requests.map(({ body }) => JSON.parse(body) as unknown);
    assert.deepEqual(bodies, [{ title: 'The Iliad' }, { title: 'The Iliad' }]);
  });
});

function tooManyRequests(retryAfter: string): Reaction {
  return { status: 429, headers: { 'Retry-After': retryAfter } };
}

describe('Waits between attempts', () => {
  test('grow exponentially to a limit, with full jitter', async () => {
    for (const [random, expected] of [
      [0, [0, 0, 0, 0, 0, 0, 0, 0]],
      [0.5, [125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
      [1, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
    ] as const) {
      await using server = await ScriptedServer.start(times(9, 'cut'));
      const { client, waits } = hasty(server, { attemptsMax: 9 }, random);
      await assert.rejects(client.find(7));
      assert.deepEqual(waits, expected);
    }
  });

  test('are added to Retry-After', async () => {
    await using server = await ScriptedServer.start([
      tooManyRequests('1'),
      tooManyRequests('30'),
      tooManyRequests('0'),
      tooManyRequests('soon'),
      FOUND,
    ]);
    const { client, waits } = hasty(server, {}, 0);
    await client.find(7);
    assert.deepEqual(waits, [1_000, 30_000, 0, 0]);
  });

  test('may follow a Retry-After with a date', async () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    const past = new Date(0).toUTCString();
    await using server = await ScriptedServer.start([
      tooManyRequests(inTenSeconds),
      tooManyRequests(past),
      FOUND,
    ]);
    const { client, waits } = hasty(server, {}, 0);
    await client.find(7);
    const [first = Number.NaN, second] = waits;
    assert.ok(first >= 0 && first <= 10_000, String(first));
    assert.equal(second, 0);
  });

  test('follow a Retry-After with a date by the clock of the server, which may be another one', async () => {
    const message = 'Too many requests';
    const [behind, ahead] = [-3_600_000, 3_600_000].map((offset) => {
      const now = Date.now() + offset;
      return { Date: new Date(now).toUTCString(), 'Retry-After': new Date(now + 10_000).toUTCString() };
    });
    await using server = await ScriptedServer.start([
      { status: 429, message, headers: behind ?? {} },
      { status: 429, message, headers: ahead ?? {} },
      FOUND,
    ]);
    const { client, waits } = hasty(server, {}, 0);
    await client.find(7);
    assert.deepEqual(waits, [10_000, 10_000]);
  });

  test('are at most 30 seconds: a longer Retry-After is thrown', async () => {
    const message = 'Too many requests';
    await using server = await ScriptedServer.start([
      { status: 429, message, headers: { 'Retry-After': '31' } },
    ]);
    const { client, waits } = hasty(server);
    await assert.rejects(client.find(7), { status: 429, message, retryAfterSeconds: 31 });
    assert.deepEqual(waits, []);
  });
});

describe('A failed write', () => {
  const rejected: Reaction = { status: 412, message: 'Precondition failed' };
  const CASES: Record<string, [script: Step[], mayHaveHappened: boolean]> = {
    'has not happened with 412': [[rejected], false],
    'may have happened without a response': [times(5, 'cut'), true],
    'may have happened with 500': [[{ status: 500 }], true],
    'may have happened with 503': [times(5, UNAVAILABLE), true],
    'may have happened in an attempt without a response, followed by 412': [['cut', rejected], true],
    'may have happened in an attempt with 503, followed by 412': [[UNAVAILABLE, rejected], true],
    'has not happened with 429': [[{ status: 429 }, rejected], false],
    'may have happened in an attempt before the token was rejected': [
      ['cut', { status: 401, message: 'Invalid token' }, rejected],
      true,
    ],
  };
  for (const [name, [script, mayHaveHappened]] of Object.entries(CASES)) {
    test(name, async () => {
      await using server = await ScriptedServer.start(script);
      const { client } = hasty(server);
      await assert.rejects(client.update(7, {}, IF_MATCH), { mayHaveHappened });
      assert.equal(server.requests.length, script.length);
    });
  }

  test('may have happened in an attempt before a sign-in failed', async () => {
    const script: Step[] = ['cut', { status: 401, message: 'Invalid token' }];
    const signIns: Step[] = [tokenNumber(1), { status: 401, message: 'Invalid credentials' }];
    await using server = await ScriptedServer.start(script, signIns);
    await assert.rejects(hasty(server).client.delete(7, IF_MATCH), (error) => {
      assert.ok(error instanceof NoResponseError && error.mayHaveHappened);
      assert.match(error.message, /^DELETE \/book\/7: /);
      assert.equal((error.cause as Error).message, 'Invalid credentials');
      return true;
    });
  });

  test('may have happened with createMany and without a response', async () => {
    await using server = await ScriptedServer.start(times(5, 'cut'));
    await assert.rejects(hasty(server).client.createMany([]), { mayHaveHappened: true });
  });

  test('may have happened; a failed read has not', async () => {
    await using server = await ScriptedServer.start(times(5, 'cut'));
    await assert.rejects(hasty(server).client.find(7), { mayHaveHappened: false });
  });
});
