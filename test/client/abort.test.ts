import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { sleep } from '../../client/abort.ts';
import { createClientWith } from '../../client/client.ts';
import { type BookClient, type CallOptions, createClient } from '../../client/index.ts';
import { DEPENDENCIES, type Dependencies } from '../../client/retries.ts';
import { CREDENTIALS, hasty } from './clients.ts';
import { type Reaction, ScriptedServer } from './scripted-server.ts';

const REASON = new Error('the caller has aborted');
const FOUND: Reaction = { status: 200, data: { id: 7, title: '', author: '', year: 0 } };
/** Longer than any test. */
const BUSY: Reaction = { status: 503, headers: { 'Retry-After': '30' } };

/** Without it, changes are not retried. */
const IF_MATCH = { ifMatch: '"1"' };

type TriedCall = (client: BookClient, options: CallOptions) => Promise<unknown>;

const CALLS: Record<string, TriedCall> = {
  create: (client, options) => client.create({}, options),
  createMany: (client, options) => client.createMany([{}], options),
  updateMany: (client, options) => client.updateMany([{ id: 7, ...IF_MATCH }], options),
  find: (client, options) => client.find(7, options),
  list: (client, options) => client.list({}, options).pages().next(),
  update: (client, options) => client.update(7, {}, { ...options, ...IF_MATCH }),
  delete: (client, options) => client.delete(7, { ...options, ...IF_MATCH }),
};

for (const [name, call] of Object.entries(CALLS)) {
  describe(`${name} is aborted with the reason of its signal`, () => {
    test('before it starts: nothing is sent', async () => {
      await using server = await ScriptedServer.start([]);
      const client = createClient({ url: server.url, ...CREDENTIALS });
      await assertAborted(call(client, { signal: AbortSignal.abort(REASON) }));
      assert.deepEqual([...server.signIns, ...server.requests], []);
    });

    test('before it starts, with a token', async () => {
      await using server = await ScriptedServer.start([]);
      const client = createClient({ url: server.url, token: 'a.b.c' });
      await assertAborted(call(client, { signal: AbortSignal.abort(REASON) }));
      assert.deepEqual(server.requests, []);
    });

    test('while it signs in', async () => {
      await using server = await ScriptedServer.start([], ['silence']);
      await abortAtRequest(1, server, call);
    });

    test('while it waits for a retry of the sign-in', async () => {
      await using server = await ScriptedServer.start([], [BUSY]);
      await abortInWait(server, call);
      assert.equal(server.signIns.length, 1);
    });

    test('while it waits for the response', async () => {
      await using server = await ScriptedServer.start(['silence']);
      await abortAtRequest(2, server, call);
    });

    test('within the body of the response', async () => {
      await using server = await ScriptedServer.start(['silence in the content']);
      await abortAtHead(2, server, call);
    });

    test('while it signs in again after its token was rejected', async () => {
      const rejected: Reaction = { status: 401, message: 'Invalid token' };
      const signIns: Reaction[] = [{ status: 200, data: { token: 'a.b.c' } }, 'silence'];
      await using server = await ScriptedServer.start([rejected], signIns);
      await abortAtRequest(3, server, call);
    });

    test('while it waits for a retry', async () => {
      await using server = await ScriptedServer.start([BUSY]);
      await abortInWait(server, call);
      assert.equal(server.requests.length, 1);
    });
  });
}

test('A list is aborted between its pages', async () => {
  const linked: Reaction = { status: 200, data: [], headers: { Link: '</books?after=a>; rel="next"' } };
  await using server = await ScriptedServer.start([linked, linked]);
  const abortion = new AbortController();
  const pages = hasty(server).client.list({}, { signal: abortion.signal }).pages();
  await pages.next();
  abortion.abort(REASON);
  await assertAborted(pages.next());
  assert.equal(server.requests.length, 1);
});

describe('A sign-in that several calls share', () => {
  test('continues when one of them is aborted', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<Reaction>();
    await using server = await ScriptedServer.start([FOUND], [() => answered]);
    const { client } = hasty(server);
    const abortion = new AbortController();
    const left = client.find(7, { signal: abortion.signal });
    const stayed = client.find(7);
    await server.hasRequests(1);
    abortion.abort(REASON);
    await assertAborted(left);
    answer({ status: 200, data: { token: 'a.b.c' } });
    assert.equal((await stayed)?.id, 7);
    assert.equal(server.signIns.length, 1);
    assert.equal(server.requests.length, 1);
  });

  test('is aborted with the last of them, and repeated for the next call', async () => {
    await using server = await ScriptedServer.start([FOUND], ['silence']);
    const { client } = hasty(server);
    const abortion = new AbortController();
    const calls = [1, 2, 3].map(() => client.find(7, { signal: abortion.signal }));
    await server.hasRequests(1);
    abortion.abort(REASON);
    for (const call of calls) await assertAborted(call);
    await server.hasClosed(1);
    assert.equal((await client.find(7))?.id, 7);
    assert.equal(server.signIns.length, 2);
  });
});

test('A signal without a reason causes an AbortError', async () => {
  await using server = await ScriptedServer.start([]);
  const { client } = hasty(server);
  await assert.rejects(client.find(7, { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('Calls leave no listeners on a signal', async () => {
  await using server = await ScriptedServer.start([FOUND, BUSY, 'cut', FOUND]);
  const { client } = hasty(server);
  const { signal } = new AbortController();
  await client.find(7, { signal });
  await client.find(7, { signal });
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

/** Aborts a call after this number of requests, and asserts its error. */
async function abortAtRequest(count: number, server: ScriptedServer, call: TriedCall): Promise<void> {
  const abortion = new AbortController();
  const client = createClient({ url: server.url, ...CREDENTIALS });
  const aborted = assertAborted(call(client, { signal: abortion.signal }));
  await server.hasRequests(count);
  abortion.abort(REASON);
  await aborted;
}

/** Aborts a call after the headers of this number of responses, and asserts its error. */
async function abortAtHead(count: number, server: ScriptedServer, call: TriedCall): Promise<void> {
  const abortion = new AbortController();
  let heads = 0;
  const onHead = () => {
    heads++;
    if (heads === count) setImmediate(() => abortion.abort(REASON));
  };
  subscribe('undici:request:headers', onHead);
  const client = createClient({ url: server.url, ...CREDENTIALS });
  await assertAborted(call(client, { signal: abortion.signal }));
  unsubscribe('undici:request:headers', onHead);
}

/** Aborts a call while it waits for a retry, and asserts its error. */
async function abortInWait(server: ScriptedServer, call: TriedCall): Promise<void> {
  const abortion = new AbortController();
  const dependencies: Dependencies = {
    ...DEPENDENCIES,
    random: () => 0,
    sleep: (milliseconds, signal) => {
      setImmediate(() => abortion.abort(REASON));
      return sleep(milliseconds, signal);
    },
  };
  const client = createClientWith(dependencies, { url: server.url, ...CREDENTIALS });
  await assertAborted(call(client, { signal: abortion.signal }));
}

/** Asserts that a call rejects with the reason of its signal. */
function assertAborted(call: Promise<unknown>): Promise<void> {
  return assert.rejects(call, (error) => error === REASON);
}
