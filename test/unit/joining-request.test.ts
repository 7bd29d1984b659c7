import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { JoiningRequest } from '../../src/http/connections/joining-request.ts';

test('A request keeps a body of many pieces, which is read later, in few', async () => {
  const request = new JoiningRequest(new Socket());
  // More than Node keeps before it stops to read from the connection.
  const sent = Buffer.from('0123456789'.repeat(7_000));
  for (const byte of sent) request.push(Buffer.of(byte));
  request.push(null);
  assert.ok(request.readableHighWaterMark <= 65_536);
  let pieces = 0;
  request.on('data', () => pieces++);
  assert.deepEqual(await buffer(request), sent);
  assert.ok(pieces <= 64, `${pieces} pieces`);
});
