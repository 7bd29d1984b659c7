import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from '../../src/api/description/openapi.ts';
import { operations } from '../../src/api/description/operations.ts';

test('An operation may have parameters, header fields and responses without content', () => {
  const operation = operations.findBook;
  const document = openApi(
    [
      {
        method: 'GET',
        url: '/shelf/:id/books',
        operation: {
          ...operation,
          query: { author: { type: 'string', description: 'Whose books.' } },
          requestHeaders: { 'If-None-Match': { type: 'string' } },
          headers: { ETag: { type: 'string', description: 'The version.' } },
          withoutContent: { 304: 'The client has it' },
        },
      },
    ],
    '1.2.3',
  ) as {
    paths: Record<string, { get: { parameters: object[]; responses: Record<string, { headers: object }> } }>;
  };
  const { parameters, responses } = document.paths['/shelf/{id}/books']?.get ?? {};
  assert.deepEqual(parameters?.slice(1), [
    { name: 'author', in: 'query', description: 'Whose books.', schema: { type: 'string' } },
    { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
  ]);
  assert.partialDeepStrictEqual(parameters?.[0], { name: 'id', in: 'path', required: true });
  const headers = {
    ETag: { description: 'The version.', schema: { type: 'string' } },
  };
  assert.partialDeepStrictEqual(responses?.['200']?.headers, headers);
  assert.partialDeepStrictEqual(responses?.['304'], { description: 'The client has it', headers });
  assert.ok(!('content' in (responses?.['304'] ?? {})));
});
