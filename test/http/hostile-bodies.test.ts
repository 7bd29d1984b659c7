import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOGIN_BYTES_MAX } from '../../src/http/body-limits.ts';
import { assertError, assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { engines } from '../../testkit/engines.ts';
import { LOGIN, type Service, startService } from '../../testkit/service.ts';

const MEBIBYTE = 1_024 * 1_024;

/** A JSON array that is nested so deep. */
function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

test('A login of 16 KiB is read, and a longer one gets 413, announced or not', async () => {
  await using service = await startService();
  const send = async (lines: readonly string[], body: string) => {
    using connection = await Connection.open(service);
    await connection.send(request('POST /token', lines) + body);
    return await connection.response();
  };
  const sendAnnounced = (body: string) => send([`Content-Length: ${body.length}`], body);
  const sendInChunks = (body: string) =>
    send(['Transfer-Encoding: chunked'], `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  for (const post of [sendAnnounced, sendInChunks]) {
    const login = await post(LOGIN.padEnd(LOGIN_BYTES_MAX));
    assertSuccess(login, 200, 'Token generated successfully');
    for (const body of [LOGIN.padEnd(LOGIN_BYTES_MAX + 1), LOGIN.padEnd(MEBIBYTE), '['.repeat(2 * MEBIBYTE)])
      assertError(await post(body), 413, 'Payload too large');
  }
});

for (const { name: engine } of engines) {
  test(`Arrays and objects that are nested deeper than 64 are invalid in an element of an array, and that array does not count, on ${engine}`, async () => {
    await using service = await startService({ engine, hasHistory: true });
    await service.fetch('POST', '/books', '[{"title":"Emma"},{}]');
    for (const [method, path, first, start, accepted] of [
      ['POST', '/books', '{}', '"title":"b"', 201],
      ['PATCH', '/books', '{"id":1}', '"id":2,"title":"b"', 200],
    ] as const) {
      const body = (depth: number) => `[${first},{${start},"x":${nested(depth)}}]`;
      for (const depth of [64, 1_000, 500_000]) {
        const response = await service.fetch(method, path, body(depth));
        assert.equal(response.status, 400);
        assert.equal(response.headers.get('invalid-index'), '1');
        assert.equal(response.headers.get('error-detail'), 'nested deeper than 64');
      }
      assert.deepEqual(await titles(service), method === 'POST' ? ['Emma', ''] : ['Emma', '', '', 'b']);
      assert.equal((await service.fetch(method, path, body(63))).status, accepted);
    }
    const restore = await service.fetch('POST', '/books/restore', `[1,${nested(65)}]`);
    assert.equal(restore.status, 400);
    assert.equal(restore.headers.get('invalid-index'), '1');
  });

  test(`A book of more than 1 MiB among many is invalid on ${engine}, whatever it has, and nothing is stored`, async () => {
    await using service = await startService({ engine });
    await service.fetch('POST', '/book', '{"title":"Emma"}');
    for (const [method, accepted] of [
      ['POST', 201],
      ['PATCH', 200],
    ] as const) {
      for (const element of [
        bookOf(MEBIBYTE + 1),
        `{"id":1,"x":${nested(7 * MEBIBYTE)}}`,
        `{"id":1,"x":[${'[],'.repeat(2 * MEBIBYTE)}1]}`,
        `"${'\\u0000'.repeat(2 * MEBIBYTE)}"`,
        `{"id":1,"x":${'{"a":'.repeat(2 * MEBIBYTE)}`,
      ]) {
        const response = await service.fetch(method, '/books', `[${element}]`);
        assert.equal(response.status, 400, element.slice(0, 30));
        assert.equal(response.headers.get('invalid-index'), '0');
        assert.equal(response.headers.get('error-detail'), 'longer than 1 MiB');
      }
      assert.equal((await service.fetch(method, '/books', `[ ${bookOf(MEBIBYTE)} ]`)).status, accepted);
    }
    assert.deepEqual(await titles(service), ['changed', 'changed']);
  });
}

/** A book, or a change of one, of this length. */
function bookOf(length: number): string {
  return `${'{"id":1,"title":"changed"'.padEnd(length - 1)}}`;
}

async function titles(service: Service): Promise<string[]> {
  const { data } = (await (await service.fetch('GET', '/books')).json()) as { data: { title: string }[] };
  return data.map(({ title }) => title);
}
