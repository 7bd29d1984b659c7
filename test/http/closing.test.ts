import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSuccess } from '../../testkit/assertions.ts';
import { Connection, request } from '../../testkit/connection.ts';
import { LOGIN, startService } from '../../testkit/service.ts';

describe('A service that is stopping', () => {
  test('responds to one more request on each open connection, with Connection: close', async () => {
    const service = await startService({ httpLimits: { graceMs: 60_000, drainMs: 60_000 } });
    using used = await Connection.open(service);
    using fresh = await Connection.open(service);
    await used.send(request('POST /token', [], LOGIN));
    await used.response();
    await service.fetch('GET', '/nowhere', undefined, { Connection: 'close' });

    const closed = service[Symbol.asyncDispose]();
    await sleep(100);
    for (const connection of [used, fresh]) {
      await connection.send(request('POST /token', [], LOGIN));
      const response = await connection.response();
      assertSuccess(response, 200, 'Token generated successfully');
      assert.equal(response.headers.get('connection'), 'close');
      assert.equal(await connection.rest(), '');
    }
    await closed;
  });

  test('responds to all pipelined requests', async () => {
    const service = await startService({ httpLimits: { graceMs: 60_000, drainMs: 60_000 } });
    using connection = await Connection.open(service);
    await connection.send(request('GET /nowhere'));
    await connection.response();

    const closed = service[Symbol.asyncDispose]();
    await sleep(100);
    const starts = ['GET /nowhere', 'POST /book', 'GET /book/1', 'GET /nowhere', 'DELETE /book/1'];
    await connection.send(starts.map((start) => request(start, [service.authorization], '{}')).join(''));
    for (const status of [404, 201, 200, 404, 200]) {
      const response = await connection.response();
      assert.equal(response.status, status);
      assert.equal(
        response.headers.get('connection') === 'close',
        status === 200 && response.body.includes('deleted'),
      );
    }
    assert.equal(await connection.rest(), '');
    await closed;
  });

  test('half-closes idle connections, and waits for their clients', async () => {
    const service = await startService({ httpLimits: { graceMs: 100, drainMs: 60_000 } });
    using connection = await Connection.open(service);
    const closed = service[Symbol.asyncDispose]();
    assert.equal(await connection.rest(), '');
    connection.finish();
    await closed;
  });

  test('closes connections that do not end in time', async () => {
    const service = await startService({ httpLimits: { graceMs: 0, drainMs: 200 } });
    using connection = await Connection.open(service);
    await connection.send(request('POST /token', ['Content-Length: 100']));
    await service.fetch('GET', '/nowhere', undefined, { Connection: 'close' });
    await service[Symbol.asyncDispose]();
    assert.equal(await connection.rest(), '');
  });
});
