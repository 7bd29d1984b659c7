import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { createFolder } from '../../testkit/folder.ts';
import { PASSWORD, SECRET } from '../../testkit/service.ts';
import { startService as startProcess } from '../../testkit/service-process.ts';

const MEBIBYTE = 1_024 * 1_024;

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
  return {
    /** Creates 100 books whose texts are as long as possible: 4.9 MB of changes, as JSON has six bytes for these characters. */
    async createLong(): Promise<void> {
      const text = '\u0001'.repeat(4_096);
      const body = JSON.stringify(Array.from({ length: 100 }, () => ({ title: text, author: text })));
      const response = await fetch(`${url}/books`, {
        method: 'POST',
        headers: { Authorization: token },
        body,
      });
      assert.equal(response.status, 201);
    },
    /** Sends a request for the changes, on a connection of its own, whose response is not read. */
    async request(target: string): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\n\r\n`);
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
  test('that wait get their change, however many they are, and hold nothing afterwards', async () => {
    await using folder = await createFolder();
    await using service = await startSmall(folder.path);
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => service.request('/changes?after=now&wait=60&limit=1')),
    );
    while ((await service.metric('bookkeeping_followers')) < 100) await sleep(10);
    const reading = Promise.all(sockets.map((socket) => readUntil(socket, ']}')));
    await service.createLong();
    for (const length of await reading) assert.ok(length > 6 * 8_192);
    assert.equal(await service.metric('bookkeeping_followers'), 0);
    await expectNothingHeld(service);
    for (const socket of sockets) socket.destroy();
  });

  test('that do not read hold no more than the memory for responses, and release it when they disconnect', async () => {
    await using folder = await createFolder();
    await using service = await startSmall(folder.path);
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => service.request('/changes?after=now&wait=60')),
    );
    while ((await service.metric('bookkeeping_followers')) < 100) await sleep(10);
    await service.createLong();
    while ((await heldBytes(service)) < MEBIBYTE) await sleep(10);
    for (let count = 0; count < 20; count++) {
      await sleep(50);
      const held = await heldBytes(service);
      assert.ok(held <= 32 * MEBIBYTE, `${held}`);
    }
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(service);
  });
});
