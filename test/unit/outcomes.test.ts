import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope } from '../../src/http/outcomes.ts';

// test/project/documentation.test.ts compares the outcomes with the table of docs/api.md.
test('An envelope has status, message and data, in this order', () => {
  assert.equal(
    JSON.stringify(envelope('bookNotFound', null)),
    '{"status":404,"message":"Book not found","data":null}',
  );
  assert.equal(
    JSON.stringify(envelope('tokenGenerated', { token: 'a.b.c' })),
    '{"status":200,"message":"Token generated successfully","data":{"token":"a.b.c"}}',
  );
});
