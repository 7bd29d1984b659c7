import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Tokens } from '../../src/auth/tokens.ts';
import { Secret } from '../../src/secret.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { readDocument } from '../../testkit/document.ts';
import { engines } from '../../testkit/engines.ts';
import { LOGIN, SECRET, startService } from '../../testkit/service.ts';

/** Every operation of books, with the id of a book. */
const PROTECTED = Object.entries((await readDocument()).paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security.length > 0 && !path.startsWith('/token'))
    .map(([method]) => [method.toUpperCase(), path.replace('{id}', '1')] as const),
);

describe('A read-only token', () => {
  for (const { name: engine } of engines) {
    test(`reads everything and changes nothing on ${engine}`, async () => {
      await using service = await startService({ engine, hasHistory: true });
      await service.fetch('POST', '/book', '{"title":"The Iliad"}');
      await service.fetch('POST', '/book', '{}');
      await service.fetch('DELETE', '/book/2');
      const Authorization = new Tokens(new Secret(SECRET), Date.now).issue(60, 'read');
      const state = async () =>
        JSON.stringify(
          await Promise.all(
            ['/books', '/changes'].map(async (path) => (await service.fetch('GET', path)).json()),
          ),
        );
      const before = await state();
      for (const [method, path] of [...PROTECTED, ['POST', '/book/2/restore'] as const]) {
        const isRead = method === 'GET';
        const body = isRead ? undefined : '[{"title":"never stored"}]';
        const response = await service.fetch(method, path, body, { Authorization });
        const { status, message } = (await response.json()) as { status: number; message: string };
        if (isRead) assert.equal(status, 200, `${method} ${path}`);
        else assert.deepEqual([status, message], [403, 'Read-only token'], `${method} ${path}`);
        if (isRead)
          assert.equal((await service.fetch('HEAD', path, undefined, { Authorization })).status, 200);
      }
      assert.equal(await state(), before);
    });
  }

  test('of POST /token is rejected before a byte of the body is read, and the connection goes on', async () => {
    await using service = await startService();
    const login = JSON.stringify({ ...(JSON.parse(LOGIN) as object), scope: 'read' });
    const issued = (await (await service.fetch('POST', '/token', login)).json()) as {
      data: { token: string };
    };
    const authorization = `Authorization: ${issued.data.token}`;
    using connection = await Connection.open(service);
    await connection.send(
      `POST /book HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nContent-Length: 2\r\n\r\n`,
    );
    assert.equal((await connection.response()).status, 403);
    await connection.send(`{}${request('GET /books', [authorization])}`);
    assert.equal((await connection.response()).status, 200);
    const lines = service.log.map((line) => JSON.parse(line) as { status?: number; scope?: string });
    assert.deepEqual(
      lines.filter(({ status }) => status !== undefined).map(({ status, scope }) => [status, scope]),
      [
        [200, undefined],
        [403, 'read'],
        [200, 'read'],
      ],
    );
  });
});
