import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFolder } from '../../testkit/folder.ts';
import { createDatabase } from '../../testkit/postgres.ts';
import { assertNotReady } from '../../testkit/stores.ts';

// Messages of PostgreSQL (its documentation, "Message Formats") that the test server does not send.
const NO_TLS = Buffer.from('N');
const TLS = Buffer.from('S');
const UNKNOWN_MECHANISM = message('R', '\0\0\0\x0aSCRAM-SHA-999\0\0');

describe('A failed start reports the cause when PostgreSQL', () => {
  test('does not offer TLS, which sslmode requires', async () => {
    await using database = await createDatabase();
    for (const sslmode of ['require', 'verify-full']) {
      await assertNotReady(`${database.url}&sslmode=${sslmode}`, /offers no TLS, which sslmode demands$/);
    }
  });

  test('rejects the user without TLS, and does not offer TLS', async () => {
    await using server = await listen((request, socket) => {
      if (isTlsRequest(request)) socket.end(NO_TLS);
      else socket.end(message('E', 'SFATAL\0VFATAL\0C28000\0Mno entry\0\0'));
    });
    await assertNotReady(`${urlOf(server)}?sslmode=allow`, /refuses this user or password \(28000\)$/);
  });

  test('requires a password, or an authentication method that the driver does not support', async () => {
    await using database = await createDatabase();
    const url = Object.assign(new URL(database.url), { password: '' }).href;
    await assertNotReady(url, /demands a password$/);

    await using server = await listen((_, socket) => socket.write(UNKNOWN_MECHANISM));
    await assertNotReady(`${urlOf(server)}?sslmode=disable`, /\(unknown authentication method\)$/);
  });

  test('is configured with an invalid certificate or key', async () => {
    await using folder = await createFolder();
    const file = join(folder.path, 'file.pem');
    await writeFile(file, 'This is no certificate.');
    await using server = await listen((_, socket) => socket.write(TLS));
    for (const keyword of ['sslcert', 'sslkey']) {
      const url = `${urlOf(server)}?sslmode=require&${keyword}=${encodeURIComponent(file)}`;
      await assertNotReady(url, /sslcert or sslkey cannot be used \(ERR_OSSL_\w+\)$/);
    }
  });

  test('resets the connection, without a retry without TLS', async () => {
    await using database = await createDatabase();
    await using server = await listen((request, socket) => {
      if (isTlsRequest(request)) socket.resetAndDestroy();
      else passOn(request, socket, new URL(database.url));
    });
    const url = Object.assign(new URL(database.url), { port: new URL(urlOf(server)).port }).href;
    await assertNotReady(url, /cannot be reached \(ECONNRESET\)$/);
  });
});

/** Listens on loopback, and passes the first bytes of each connection to a function. */
async function listen(onRequest: (request: Buffer, socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', (request: Buffer) => onRequest(request, socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `postgres://app:secret@127.0.0.1:${(server.address() as AddressInfo).port}/books`;
}

/** Only the request for TLS is 8 bytes long. */
function isTlsRequest(request: Buffer): boolean {
  return request.length === 8;
}

function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content, 'latin1')]);
}

function passOn(request: Buffer, socket: Socket, { hostname, port }: URL): void {
  const server = connect(Number(port), hostname);
  server.on('error', () => {}).write(request);
  socket.pipe(server).pipe(socket);
}
