import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { YEAR_MAX } from '../../src/book/book.ts';
import type { Book } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { CORPUS, LONG, makeBooks, ORDERS } from '../../testkit/search-corpus.ts';
import { expectedBooks, type Parameters } from '../../testkit/search-reference.ts';
import { type Service, startService } from '../../testkit/service.ts';
import * as sql from '../../testkit/sql.ts';
import { booksIn, createBooks, idsOf, linkOf, pathOf, requestSearch, walk } from './search-responses.ts';

const FILTERS: readonly Parameters[] = [{}, { year_to: '1910' }, { title: 'r', year_from: '1900' }];

for (const engine of engines) {
  suite(`A page of GET /books that begins anywhere, on ${engine.name}`, () => {
    test('begins after `offset` matches, in every order and with every filter', async () => {
      await using service = await startService({ engine: engine.name });
      const books = await createBooks(service, [...CORPUS, ...makeBooks(150)]);
      const deleted = books.filter((_, index) => index % 5 === 2);
      for (const { id } of deleted) await service.fetch('DELETE', `/book/${id}`);
      const left = books.filter((book) => !deleted.includes(book));
      for (const sort of ORDERS) {
        for (const filter of FILTERS) {
          const matches = expectedBooks(left, { ...filter, sort });
          for (const offset of [41, matches.length - 1])
            await assertPage(service, left, { ...filter, sort, offset: `${offset}`, limit: '3' });
        }
        const parameters = { sort, offset: '37', limit: '17' };
        assert.deepEqual(await walk(service, parameters), expectedBooks(left, parameters));
      }
    });

    test('begins at the first book that is not before `from`, by words or numbers', async () => {
      await using service = await startService({ engine: engine.name });
      const books = await createBooks(service, [...CORPUS, ...makeBooks(150)]);
      const starts = [
        { sorts: ['id', '-id'], keys: ['-1', '0', '007', '100', '9007199254740991'] },
        { sorts: ['year', '-year'], keys: ['-9007199254740991', '-726', '-725', '1905', '3000'] },
        {
          sorts: ['title', '-title'],
          keys: ['', '...', 'g', 'ÉMIGRÉS', 'The riv', 'xx', '\u{10FFFF}', LONG],
        },
        { sorts: ['author', '-author'], keys: ['the', 'O’Neill', 'ZZZ', 'ö', `${LONG}x`] },
      ];
      for (const { sorts, keys } of starts) {
        for (const sort of sorts) {
          for (const from of keys)
            for (const filter of FILTERS)
              await assertPage(service, books, { ...filter, sort, from, limit: '3' });
          const parameters = { sort, from: keys.at(-2) ?? '', limit: '17' };
          assert.deepEqual(await walk(service, parameters), expectedBooks(books, parameters));
        }
      }
    });

    test('skips more books than one statement does', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 201000)';
      await sql.query(
        address.dbUrl,
        `insert into books (id, title, author, year) ${numbers} select i, '', '', 0 from n`,
      );
      for (const [sort, id] of [
        ['id', 200_901],
        ['-id', 100],
      ]) {
        const path = `/books?sort=${sort}&offset=200900&limit=1`;
        assert.deepEqual(idsOf(await booksIn(await requestSearch(service, path))), [id]);
      }
    });

    test('has no further books, and no Link, beyond the end', async () => {
      await using service = await startService({ engine: engine.name });
      await createBooks(service, CORPUS);
      const response = await requestSearch(service, '/books?limit=1&count=true&offset=1000');
      assert.equal(response.headers.get('link'), null);
      assert.equal(response.headers.get('x-total-count'), `${CORPUS.length}`);
      assert.equal(response.headers.get('x-offset'), `${CORPUS.length}`);
      assert.deepEqual(await booksIn(response), []);
    });
  });
}

test('A page of GET /books begins in one place only: anything else gets 400', async () => {
  await using service = await startService();
  await createBooks(service, CORPUS);
  const cursor = linkOf(await requestSearch(service, '/books?limit=1'))?.split('after=')[1];
  for (const [query, detail] of [
    ['offset=-1', 'offset must be an integer from 0 to 9007199254740991'],
    ['offset=', 'offset must be an integer from 0 to 9007199254740991'],
    ['offset=1&offset=1', 'offset is repeated'],
    [`offset=0&after=${cursor}`, 'after, offset, from exclude each other'],
    ['from=1&offset=0', 'after, offset, from exclude each other'],
    ['from=m', `from must be an integer from -${YEAR_MAX} to ${YEAR_MAX} with sort=id`],
    ['sort=title&from=%00', 'from must be text in percent-encoded UTF-8, without U+0000'],
  ]) {
    const response = await service.fetch('GET', `/books?limit=1&${query}`);
    assert.equal(response.headers.get('error-detail'), detail);
    assert.deepEqual(await response.json(), { status: 400, message: 'Invalid query', data: null });
  }
});

/** Asserts a page with a limit, the number of matches before it, and a Link, without its start, if another follows. */
async function assertPage(service: Service, books: readonly Book[], parameters: Parameters): Promise<void> {
  const expected = expectedBooks(books, parameters);
  const limit = Number(parameters.limit);
  const response = await requestSearch(service, pathOf({ ...parameters, count: 'true' }));
  const label = JSON.stringify(parameters);
  assert.deepEqual(idsOf(await booksIn(response)), idsOf(expected.slice(0, limit)), label);
  const { offset: _, from: __, ...filters } = parameters;
  const before = expectedBooks(books, filters).length - expected.length;
  assert.equal(response.headers.get('x-offset'), `${before}`, label);
  const next = linkOf(response);
  assert.equal(next !== undefined, expected.length > limit, label);
  assert.doesNotMatch(next ?? '', /[?&](offset|from)=/);
}
