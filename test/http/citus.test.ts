import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { emulateCitus } from '../../testkit/engines.ts';
import { CORPUS, EXAMPLES, makeBooks, ORDERS, PARAMETERS } from '../../testkit/search-corpus.ts';
import { expectedBooks } from '../../testkit/search-reference.ts';
import { startService } from '../../testkit/service.ts';
import { assertList, createBooks, idsOf, walk } from './search-responses.ts';

emulateCitus();

test('Searches with the statements for Citus match the reference, for examples and random queries, page by page', async () => {
  await using service = await startService({ engine: 'PostgreSQL' });
  const books = await createBooks(service, [...CORPUS, ...makeBooks(20)]);
  for (const parameters of EXAMPLES) await assertList(service, books, parameters);
  for (const sort of ORDERS)
    assert.deepEqual(idsOf(await walk(service, { sort, limit: '7' })), idsOf(expectedBooks(books, { sort })));
  await fc.assert(
    fc.asyncProperty(PARAMETERS, async (parameters) => assertList(service, books, parameters)),
    { numRuns: 40 },
  );
});
