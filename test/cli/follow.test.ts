import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand, startCommand } from '../../testkit/command.ts';
import { createFolder } from '../../testkit/folder.ts';
import { SECRET, type Service, startService } from '../../testkit/service.ts';

const variables = { SECRET_TOKEN: SECRET, AUTH_PASSWORD: 'unused' };
const KEY = Buffer.alloc(32, 7);

const create = (service: Service, title: string) => service.fetch('POST', '/book', JSON.stringify({ title }));

interface Delivery {
  readonly headers: Readonly<Record<'id' | 'timestamp' | 'signature', string>>;
  readonly body: string;
}

/** A receiver that rejects the first deliveries. */
async function startReceiver(rejected: number) {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const header = (name: string) => String(request.headers[`webhook-${name}`]);
    const headers = { id: header('id'), timestamp: header('timestamp'), signature: header('signature') };
    void text(request).then((body) => {
      deliveries.push({ headers, body });
      response.writeHead(deliveries.length <= rejected ? 500 : 204).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    deliveries,
    [Symbol.dispose]: () => void server.close(),
  };
}

/** A receiver of one thread and HTTP/1.0, such as Python's `http.server`; the end of the connection is the end of the body. */
async function startSimpleReceiver(respond: (socket: Socket) => Promise<void>) {
  const titles: string[] = [];
  const made = { url: '', titles, earlyEnds: 0 };
  const server = createTcpServer((socket) => {
    let request = '';
    let isWhole = false;
    let isOver = false;
    socket.on('error', () => {});
    socket.once('end', () => {
      if (!isOver) made.earlyEnds++;
    });
    socket.on('data', (piece) => {
      request += piece;
      const [head = '', body = ''] = request.split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
      if (isWhole || Buffer.byteLength(body) < length) return;
      isWhole = true;
      titles.push((JSON.parse(body) as { data: { title: string } }).data.title);
      socket.write('HTTP/1.0 200 OK\r\nServer: simple\r\n\r\n');
      void respond(socket).then(() => {
        isOver = true;
        socket.end();
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return Object.assign(made, { [Symbol.asyncDispose]: async () => void server.close() });
}

/** What a receiver does after the head of its response. */
const SIMPLE_RESPONSES: Readonly<Record<string, (socket: Socket) => Promise<void>>> = {
  'has a body without length': async (socket) => {
    await sleep(20);
    socket.write('ok');
  },
  'has no body': () => sleep(20),
  'cuts the body': async (socket) => void socket.resetAndDestroy(),
  'never ends the body': (socket) => once(socket, 'close').then(() => {}),
  'never stops sending': async (socket) => {
    while (!socket.destroyed) {
      socket.write('x'.repeat(65_536));
      await sleep(1);
    }
  },
};

describe('bookkeeping follow', () => {
  test('prints the changes as NDJSON, and continues after the cursor in its file', async () => {
    await using folder = await createFolder();
    await using service = await startService({ hasHistory: true });
    await create(service, 'one');
    await create(service, 'two');
    const options = { folder: folder.path, variables };
    await writeFile(join(folder.path, 'cursor.part'), 'of another program');
    const follow = ['follow', 'cursor', '--once', '--url', service.url];
    const first = await runCommand(follow, options);
    assert.deepEqual([first.code, first.stderr], [0, '']);
    const changes = first.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { cursor: string; type: string; book: { title: string } });
    assert.deepEqual(
      changes.map(({ type, book }) => `${type} ${book.title}`),
      ['created one', 'created two'],
    );
    assert.equal(await readFile(join(folder.path, 'cursor.part'), 'utf8'), 'of another program');
    assert.equal(await readFile(join(folder.path, 'cursor'), 'utf8'), `${changes[1]?.cursor}\n`);
    assert.equal((await runCommand(follow, options)).stdout, '');
    await create(service, 'three');
    assert.match((await runCommand(follow, options)).stdout, /^\{.*"three".*\}\n$/);
    assert.equal(
      (await runCommand(['follow', '--once', '--url', service.url], options)).stdout.split('\n').length,
      4,
    );
  });

  test('says what to do when changes after its cursor are missing, or its cursor is one of another store', async () => {
    await using folder = await createFolder();
    await using service = await startService({ hasHistory: true });
    await create(service, 'one');
    for (const [cursor, problem] of [
      ['0-1', 'changes after the cursor in cursor are missing'],
      ['1-1', 'cursor has the cursor of another store'],
    ] as const) {
      await writeFile(join(folder.path, 'cursor'), cursor);
      const { code, stdout, stderr } = await runCommand(['follow', 'cursor', '--url', service.url], {
        folder: folder.path,
        variables,
      });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        new RegExp(`^bookkeeping: ${problem}: copy all books again [^\\n]*, and delete cursor [^\\n]*\\n$`),
      );
      assert.equal(await readFile(join(folder.path, 'cursor'), 'utf8'), cursor);
    }
  });

  test('waits for changes until it is interrupted', async () => {
    await using folder = await createFolder();
    await using service = await startService({ hasHistory: true });
    await create(service, 'one');
    for (const [signal, exitCode] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const child = startCommand(['follow', '--url', service.url], { folder: folder.path, variables });
      const output = child.stdout?.setEncoding('utf8');
      assert.ok(output);
      const [line] = (await once(output, 'data')) as [string];
      assert.match(line, /"one"/);
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [exitCode, null]);
    }
  });

  test('delivers each change to a web hook, signed, until it is accepted', async () => {
    await using folder = await createFolder();
    await using service = await startService({ hasHistory: true });
    using receiver = await startReceiver(1);
    await writeFile(join(folder.path, 'secret'), `whsec_${KEY.toString('base64')}\n`);
    await create(service, 'one');
    await create(service, 'two');
    const args = [
      'follow',
      'cursor',
      '--once',
      '--url',
      service.url,
      '--post',
      receiver.url,
      '--secret-file',
      'secret',
    ];
    const { code, stdout, stderr } = await runCommand(args, { folder: folder.path, variables });
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^bookkeeping: the web hook did not accept [0-9]+-[0-9a-z]+: 500\n$/);
    const bodies = receiver.deliveries.map(
      ({ body }) => JSON.parse(body) as { type: string; data: { title: string } },
    );
    assert.deepEqual(
      bodies.map(({ type, data }) => `${type} ${data.title}`),
      ['book.created one', 'book.created one', 'book.created two'],
    );
    for (const { headers, body } of receiver.deliveries) {
      const { id, timestamp, signature } = headers;
      assert.ok(Math.abs(Number(timestamp) - Date.now() / 1_000) < 300);
      const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest('base64');
      assert.equal(signature, `v1,${expected}`);
    }
    const ids = receiver.deliveries.map(({ headers }) => headers.id);
    assert.equal(ids[0], ids[1]);
    assert.equal(await readFile(join(folder.path, 'cursor'), 'utf8'), `${ids[2]}\n`);
  });

  for (const [name, respond] of Object.entries(SIMPLE_RESPONSES)) {
    test(`delivers each change once, and resets no connection, when the web hook ${name}`, async () => {
      await using folder = await createFolder();
      await using service = await startService({ hasHistory: true });
      await using receiver = await startSimpleReceiver(respond);
      await writeFile(join(folder.path, 'secret'), `whsec_${KEY.toString('base64')}\n`);
      await service.fetch('POST', '/books', '[{"title":"one"},{"title":"two"},{"title":"three"}]');
      const { url } = receiver;
      const args = ['follow', '--once', '--url', service.url, '--post', url, '--secret-file', 'secret'];
      const { code, stderr } = await runCommand(args, { folder: folder.path, variables });
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(receiver.titles, ['one', 'two', 'three']);
      if (!name.startsWith('never')) assert.equal(receiver.earlyEnds, 0);
    });
  }

  test('names what is wrong in one line', async () => {
    await using folder = await createFolder();
    await using service = await startService();
    const options = { folder: folder.path, variables };
    await writeFile(join(folder.path, 'short'), 'whsec_AAAA');
    for (const [args, code, problem] of [
      [['follow', '--post', 'http://localhost/'], 2, /--secret-file/],
      [['follow', '--post', 'ftp://localhost/', '--secret-file', 'short'], 2, /--post must be/],
      [['follow', '--post', 'http://user:secret@localhost/', '--secret-file', 'short'], 2, /--post must be/],
      [['follow', '--post', 'http://localhost/', '--secret-file', 'short'], 1, /short must have whsec_/],
      [
        ['follow', '--post', 'http://localhost/', '--secret-file', 'none'],
        1,
        /none cannot be read \(ENOENT\)/,
      ],
      [['follow', '--url', 'ftp://localhost/'], 2, /--url must be/],
      [['follow', '--url', service.url], 1, /Not found: the service does not record its history/],
      [['restore-book'], 2, /missing required argument 'ID'/],
      [['restore-book', 'x'], 2, /ID must be a number/],
      [['restore-book', '1', '--url', service.url], 1, /Not found: the service does not record/],
    ] as const) {
      const ending = await runCommand(args, options);
      assert.equal(ending.code, code, args.join(' '));
      assert.match(ending.stderr, problem);
      assert.equal(ending.stderr.split('\n').length, 2, ending.stderr);
    }
  });
});

test('bookkeeping restore-book stores a deleted book again', async () => {
  await using folder = await createFolder();
  await using service = await startService({ hasHistory: true });
  await create(service, 'one');
  const restore = (id: string) =>
    runCommand(['restore-book', id, '--url', service.url], { folder: folder.path, variables });
  assert.match((await restore('1')).stderr, /^bookkeeping: Book exists\n$/);
  await service.fetch('DELETE', '/book/1');
  const { code, stdout } = await restore('1');
  assert.deepEqual([code, JSON.parse(stdout)], [0, { id: 1, title: 'one', author: '', year: 0 }]);
  assert.match((await restore('2')).stderr, /no deletion of book 2 is known/);
});
