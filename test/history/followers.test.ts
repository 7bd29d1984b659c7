import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tokens } from '../../src/auth/tokens.ts';
import type { BookHistory } from '../../src/history/book-history.ts';
import { Followers } from '../../src/history/followers.ts';
import { Secret } from '../../src/secret.ts';
import { createFolder } from '../../testkit/folder.ts';
import { PASSWORD, SECRET } from '../../testkit/service.ts';
import { startService as startProcess } from '../../testkit/service-process.ts';

const MEBIBYTE = 1_024 * 1_024;
/** The length of a title that fits into a body. */
const LONG = MEBIBYTE - 100;

/** A service with a history and a small heap, in a process of its own. */
async function startSmall(folder: string) {
  const variables = {
    SECRET_TOKEN: SECRET,
    AUTH_PASSWORD: PASSWORD,
    DB_URL: 'sqlite:books.db',
    HISTORY: 'on',
  };
  const service = await startProcess(folder, variables, ['--max-old-space-size=64']);
  const token = new Tokens(new Secret(SECRET), Date.now).issue(600);
  const { port, url } = service;
  const create = async (title: string) => {
    const body = JSON.stringify({ title });
    const response = await fetch(`${url}/book`, { method: 'POST', headers: { Authorization: token }, body });
    assert.equal(response.status, 201);
  };
  return {
    create,
    /** Sends a request for the changes, on a connection of its own, whose response is not read. */
    async request(target: string, accept = 'application/json'): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\nAccept: ${accept}\r\n\r\n`,
      );
      return socket;
    },
    async metric(name: string): Promise<number> {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length),
      );
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

type Small = Awaited<ReturnType<typeof startSmall>>;

const heldBytes = (service: Small) => service.metric('bookkeeping_http_held_bytes{kind="responses"}');

/** Waits until no response is held in memory. */
async function expectNothingHeld(service: Small): Promise<void> {
  const until = performance.now() + 30_000;
  while ((await heldBytes(service)) > 0) {
    assert.ok(performance.now() < until, 'memory is still held');
    await sleep(10);
  }
}

/** Reads a response until it has a text. @returns its length */
async function readUntil(socket: Socket, text: string): Promise<number> {
  let length = 0;
  let end = '';
  for await (const part of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += part.length;
    end = end.slice(-text.length) + part.toString('latin1');
    if (end.includes(text)) return length;
  }
  throw new Error('the connection has ended');
}

describe('Followers', () => {
  test('of server-sent events that have read a long change hold nothing while they wait', async () => {
    await using folder = await createFolder();
    await using service = await startSmall(folder.path);
    await service.create('x'.repeat(LONG));
    await service.create('end 1');
    const sockets: Socket[] = [];
    while (sockets.length < 120) {
      const some = await Promise.all(
        Array.from({ length: 10 }, () => service.request('/changes', 'text/event-stream')),
      );
      for (const length of await Promise.all(some.map((socket) => readUntil(socket, 'end 1'))))
        assert.ok(length > LONG);
      sockets.push(...some);
    }
    await expectNothingHeld(service);
    assert.equal(await service.metric('bookkeeping_followers'), 120);
    // 120 MiB more than at the start, if each held what it has read.
    assert.ok((await service.metric('process_resident_memory_bytes')) < 250 * MEBIBYTE);
    const reading = Promise.all(sockets.map((socket) => readUntil(socket, 'end 2')));
    await service.create('end 2');
    await reading;
    // After an end without a reset, a client may still read; only the next comments show that it does not.
    for (const socket of sockets) socket.resetAndDestroy();
    while ((await service.metric('bookkeeping_followers')) > 0) await sleep(10);
    await expectNothingHeld(service);
  });

  test('that wait for the same long change get one buffer, which counts once', async () => {
    await using folder = await createFolder();
    await using service = await startSmall(folder.path);
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => service.request('/changes?after=now&wait=60')),
    );
    while ((await service.metric('bookkeeping_followers')) < 100) await sleep(10);
    const reading = Promise.all(sockets.map((socket) => readUntil(socket, ']}')));
    await service.create('x'.repeat(LONG));
    for (const length of await reading) assert.ok(length > LONG);
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(service);
  });

  test('that do not read hold no more than the memory for responses, and release it when they disconnect', async () => {
    await using folder = await createFolder();
    await using service = await startSmall(folder.path);
    // More than the buffers of a connection.
    for (let index = 0; index < 24; index++) await service.create(`${index}${'x'.repeat(LONG - 9)}`);
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => service.request('/changes?limit=1', 'text/event-stream')),
    );
    let held = 0;
    for (let count = 0; count < 20; count++) {
      await sleep(100);
      held = Math.max(held, await heldBytes(service));
      assert.ok(held <= 32 * MEBIBYTE, `${held}`);
    }
    assert.ok(held > MEBIBYTE, `${held}`);
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(service);
  });

  test('of any number have their slowest one in the metrics', async () => {
    const history: Pick<BookHistory, 'last' | 'read'> = {
      last: async () => ({ position: 10, nonce: 1 }),
      read: async () => 'removed',
    };
    const followers = new Followers(history as BookHistory);
    const request = new IncomingMessage(new Socket());
    for (let index = 0; index < 130_000; index++)
      followers.reached({ position: 10, nonce: 1 }, new ServerResponse(request));
    const last = new ServerResponse(request);
    assert.equal(
      await followers.next({ after: { position: 3, nonce: 1 }, limit: 1 }, 5_000, last),
      'removed',
    );
    assert.deepEqual(followers.state, { count: 130_001, behind: 7 });
    followers.stop();
  });
});
