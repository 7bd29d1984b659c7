import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { BookFields } from '../../src/book/contract.ts';
import { engines } from '../../testkit/engines.ts';
import { CORPUS, EXAMPLES, LONG, makeBooks, PARAMETERS } from '../../testkit/search-corpus.ts';
import { expectedBooks } from '../../testkit/search-reference.ts';
import { startService } from '../../testkit/service.ts';
import * as sql from '../../testkit/sql.ts';
import {
  assertList,
  booksIn,
  createBooks,
  idsOf,
  linkOf,
  pathOf,
  requestSearch,
  walk,
  walkFrom,
} from './search-responses.ts';

for (const engine of engines) {
  suite(`GET /books with a query, on ${engine.name}`, () => {
    test('matches the reference for each parameter and for random combinations, page by page', async () => {
      await using service = await startService({ engine: engine.name });
      const books = await createBooks(service, [...CORPUS, ...makeBooks(60)]);
      for (const parameters of EXAMPLES) await assertList(service, books, parameters);
      await fc.assert(
        fc.asyncProperty(PARAMETERS, async (parameters) => assertList(service, books, parameters)),
        { numRuns: 40 },
      );
    });

    test('returns every book once in every order when the client follows Link', async () => {
      await using service = await startService({ engine: engine.name });
      const books = await createBooks(service, [...CORPUS, ...makeBooks(20)]);
      for (const sort of ['id', '-id', 'title', '-title', 'author', '-author', 'year', '-year']) {
        const expected = expectedBooks(books, { sort });
        for (const limit of [7, 1000])
          assert.deepEqual(idsOf(await walk(service, { sort, limit: `${limit}` })), idsOf(expected));
      }
    });

    test('continues after a book that was deleted or changed, and returns every other book once', async () => {
      for (const sort of ['-author', 'year']) {
        await using service = await startService({ engine: engine.name });
        const order = idsOf(expectedBooks(await createBooks(service, CORPUS), { sort }));
        const links: (string | undefined)[] = [];
        for (
          let next: string | undefined = pathOf({ sort, limit: '1' });
          next !== undefined;
          links.push(next)
        )
          next = linkOf(await requestSearch(service, next));
        for (const id of order.filter((_, at) => at % 6 === 1)) await service.fetch('DELETE', `/book/${id}`);
        const changes = JSON.stringify({ title: `${LONG}c`, author: '!', year: -5 });
        const changed = order.filter((_, at) => at % 6 === 4);
        for (const id of changed) await service.fetch('PUT', `/book/${id}`, changes);
        for (const [at, link] of links.entries()) {
          if (link === undefined || at % 3 !== 1) continue;
          const seen = idsOf(await walkFrom(service, link.replace('limit=1', 'limit=1000')));
          assert.deepEqual(
            seen.filter((id) => !changed.includes(id)),
            order.filter((_, index) => index > at && index % 3 !== 1),
            `${sort}, after ${order[at]}`,
          );
        }
      }
    });

    test('keeps the other parameters in Link, and limits the length of the cursor', async () => {
      await using service = await startService({ engine: engine.name });
      await createBooks(service, CORPUS);
      const path = '/books?sort=-title&%74itle=&page=%3E&limit=1&x=%22&year_from=-5';
      const response = await requestSearch(service, path);
      const next = linkOf(response) ?? '';
      assert.match(next, /^\/books\?sort=-title&%74itle=&page=%3E&limit=1&x=%22&year_from=-5&after=[\w-]+$/);
      for (const title of [LONG, '\u{1F4DA}'.repeat(4_096), '\u0001'.repeat(4_096)]) {
        await createBooks(service, [
          { title, author: title, year: 1 },
          { title, author: title, year: 1 },
        ]);
      }
      for (const sort of ['title', '-title', 'author', '-author']) {
        let page: string | undefined = pathOf({ sort, limit: '1' });
        while (page !== undefined) {
          assert.ok(page.length < 2_200, page);
          page = linkOf(await requestSearch(service, page));
        }
      }
    });

    test('returns the number of all matches with count=true, whatever the page', async () => {
      await using service = await startService({ engine: engine.name });
      const books = await createBooks(service, [...CORPUS, ...makeBooks(50)]);
      for (const parameters of [{}, { q: 'the' }, { title: 'of', sort: '-year' }, { year_from: '1900' }]) {
        for (const limit of ['2', '1000']) {
          const response = await requestSearch(service, pathOf({ ...parameters, limit, count: 'true' }));
          assert.equal(response.headers.get('x-total-count'), `${expectedBooks(books, parameters).length}`);
          await response.text();
        }
      }
      const uncounted = await service.fetch('GET', '/books?count=false');
      assert.equal(uncounted.headers.get('x-total-count'), null);
      assert.deepEqual(await booksIn(uncounted), books);
    });

    test('finds what people type for letters that they cannot type, and words inside text without spaces', async () => {
      await using service = await startService({ engine: engine.name });
      const titles = [
        'Łódź',
        'Ørsted',
        'Đorđe',
        'Œuvres',
        'Æsop',
        'Straße',
        'Işık',
        '中国人民解放军',
        'ハリー・ポッター',
      ];
      titles.push('ครูไทย', 'ສະບາຍດີ', 'ខ្មែរ', 'မြန်မာ', '대한민국', 'が', 'か', 'كـتاب', 'Cafe\u0301', 'Café');
      await createBooks(
        service,
        titles.map((title) => ({ title, author: '民', year: 0 })),
      );
      const found = async (parameters: Record<string, string>) =>
        (await booksIn(await requestSearch(service, pathOf(parameters)))).map(({ title }) => title).join();
      const cases = `lodz=Łódź orsted=Ørsted dorde=Đorđe oeuvres=Œuvres AESOP=Æsop strasse=Straße STRASSE=Straße
        isik=Işık ışık=Işık IŞIK=Işık 人民=中国人民解放军 解放军=中国人民解放军 军=中国人民解放军 民国= 军民=
        ポッター=ハリー・ポッター ﾎﾟｯﾀｰ=ハリー・ポッター ホッター= か=か が=が ไทย=ครูไทย คร=ครูไทย ครไ= ບາຍ=ສະບາຍດີ
        មែរ=ខ្មែរ မာ=မြန်မာ 민국=대한민국 한미=대한민국 كتاب=كـتاب كتـ=كـتاب ـ= %= ?= =`;
      for (const [q = '', title] of cases.split(/\s+/).map((pair) => pair.split('=')))
        assert.equal(await found({ q }), title, q);
      for (const title of ['ışık', 'IŞIK', 'işik']) assert.equal(await found({ title }), 'Işık');
      for (const title of ['cafe\u0301', 'CAFÉ']) assert.equal(await found({ title }), 'Cafe\u0301,Café');
    });

    test('finds no words that begin in the title and end in the author, however long the title is', async () => {
      await using service = await startService({ engine: engine.name });
      for (const words of [1, 80]) {
        const [book] = await createBooks(service, [
          { title: `${'word '.repeat(words)}abc${words}`, author: '人民 river', year: 1 },
        ]);
        for (const sort of ['id', 'title', '-author']) {
          const search = async (q: string) =>
            idsOf(await booksIn(await requestSearch(service, pathOf({ q, sort, year_from: '1' }))));
          assert.deepEqual(await search(`abc${words}人民`), [], `${words} words by ${sort}`);
          assert.deepEqual(await search(`abc${words} 人民 RIV`), [book?.id], `${words} words by ${sort}`);
        }
      }
    });

    test('lists the books that have a twin, with each condition, page by page', async () => {
      await using service = await startService({ engine: engine.name });
      const twins: BookFields[] = [
        ['Emma', 'Jane Austen', 1815],
        ['EMMA.', 'jane  austen', 1816],
        ['Emma', 'Jane Austen', 1820],
        ['emma', 'Someone else', 1815],
        ['Lés Misérables', 'Victor Hugo', 1862],
        ['Les Miserables', 'Víctor Hugo', 0],
        ['Les Miserables', 'Victor Hugo', 1900],
        ['!!!', '', 1],
        ['???', '', 1],
        ['???', '', 1],
      ].map(([title, author, year]) => ({ title, author, year }) as BookFields);
      const books = await createBooks(service, [...CORPUS, ...makeBooks(400), ...twins]);
      const titles = expectedBooks(books, { twins: 'true' }).map(({ title }) => title);
      assert.ok(titles.length > 100 && !titles.includes('emma') && titles.includes('???'));
      for (const parameters of [
        {},
        { q: 'emma' },
        { author: 'hugo' },
        { year: '1815' },
        { q: '?' },
        { q: 'riv' },
      ]) {
        const query = { ...parameters, twins: 'true' };
        await assertList(service, books, query, [1, 7, 1000]);
        const path = pathOf({ ...query, count: 'true', offset: '3', limit: '2' });
        const counted = await requestSearch(service, path);
        const expected = expectedBooks(books, query);
        assert.equal(counted.headers.get('x-total-count'), `${expected.length}`);
        assert.deepEqual(await booksIn(counted), expected.slice(3, 5));
      }
      const random = PARAMETERS.map(({ sort: _sort, from: _from, ...others }) => ({
        ...others,
        twins: 'true',
      }));
      await fc.assert(
        fc.asyncProperty(random, async (parameters) => assertList(service, books, parameters)),
        { numRuns: 20 },
      );
      await assertList(service, books, { twins: 'false', sort: '-title' });
    });

    test('finds the twins among thousands of books with the same words in time, and counts them', async () => {
      await using service = await startService({ engine: engine.name });
      const books: Awaited<ReturnType<typeof createBooks>> = [];
      for (const part of [0, 1])
        books.push(
          ...(await createBooks(
            service,
            Array.from({ length: 10_000 }, (_, index) => ({
              title: 'The same words',
              author: 'An author',
              year: 2 * (10_000 * part + index) + 1_000,
            })),
          )),
        );
      const twin = { title: 'The same: words', author: 'AN AUTHOR', year: 21_001 };
      books.push(...(await createBooks(service, [twin])));
      await requestSearch(service, pathOf({ q: 'absent' }));
      // The years of its neighbours are one apart.
      const expected = expectedBooks(books, { year_from: '21000', year_to: '21002' });
      assert.equal(expected.length, 3);
      for (const filter of [{}, { q: 'words' }, { year_from: '20000', year_to: '25000' }]) {
        const query = { ...filter, twins: 'true', count: 'true', limit: '9' };
        const found = await requestSearch(service, pathOf(query));
        assert.equal(found.status, 200, JSON.stringify(filter));
        assert.equal(found.headers.get('x-total-count'), '3');
        // A page that has taken long ends before it is full.
        assert.deepEqual(await walkFrom(service, pathOf(query)), expected);
      }
      await createBooks(service, [{ ...twin, year: 0 }]);
      const all = await requestSearch(service, pathOf({ twins: 'true', count: 'true', limit: '9' }));
      assert.equal(all.headers.get('x-total-count'), '20002');
      assert.deepEqual(await booksIn(all), books.slice(0, 9));
    });

    test('sees every completed write', async () => {
      await using service = await startService({ engine: engine.name });
      const book = (await createBooks(service, CORPUS)).find(({ title }) => title === 'The Iliad');
      const find = async (q: string) => idsOf(await booksIn(await requestSearch(service, pathOf({ q }))));
      assert.deepEqual(await find('iliad'), [book?.id]);
      for (let round = 0; round < 5; round++) {
        await service.fetch('PUT', `/book/${book?.id}`, JSON.stringify({ title: `Round${round}` }));
        assert.deepEqual(await find(`round${round}`), [book?.id]);
        assert.deepEqual(await find('iliad'), []);
        const [other] = await createBooks(service, [{ title: `Other${round}`, author: '', year: 0 }]);
        assert.deepEqual(await find(`other${round}`), [other?.id]);
        await service.fetch('DELETE', `/book/${other?.id}`);
        assert.deepEqual(await find(`other${round}`), []);
      }
    });

    test('sees the writes of other programs and of a second service', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      await using second = await startService({ dbUrl: address.dbUrl });
      const created = await createBooks(service, CORPUS.slice(0, 5));
      for (const statement of [
        `insert into books (id, title, author, year) values (1000, 'Foreign', 'a', 1), (900, 'Foreign', 'b', 2)`,
        `update books set title = 'Foreign' where id = ${created[1]?.id}`,
        `insert into books (id, title, author, year) values (500, 'Foreign', 'c', 3)`,
        'update books set id = 2000 where id = 500',
        'delete from books where id = 900',
        `insert into books (id, title, author, year) values (700, 'Foreign', 'd', 4)`,
        `update books set title = 'Foreign'`,
        'delete from books',
        `insert into books (title, author, year) values ('Foreign', '', 0)`,
      ]) {
        await sql.query(address.dbUrl, statement);
        const books = await booksIn(await service.fetch('GET', '/books'));
        for (const one of [service, second]) {
          await assertList(one, books, { q: 'for' });
          await assertList(one, books, { title: 'foreign', sort: '-author' });
        }
      }
      await createBooks(second, [{ title: 'Seconded', author: '', year: 0 }]);
      await assertList(service, await booksIn(await second.fetch('GET', '/books')), { q: 'sec' });
    });

    test('works while several services build the index', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      await using second = await startService({ dbUrl: address.dbUrl });
      const books = await createBooks(service, CORPUS);
      for (let round = 0; round < 3; round++) {
        const both = [service, second, service, second];
        await Promise.all(both.map((one) => assertList(one, books, { q: 'the', sort: '-author' })));
      }
    });

    test('returns the same while the index is built and afterwards', async () => {
      await using address = await engine.createAddress();
      await using service = await startService({ dbUrl: address.dbUrl });
      const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000)';
      const fields = "'Book ' || i, 'Author ' || (i % 7), i % 100";
      await sql.query(
        address.dbUrl,
        `insert into books (title, author, year) ${numbers} select ${fields} from n`,
      );
      const books = await booksIn(await service.fetch('GET', '/books'));
      assert.equal(books.length, 8_000);
      for (let round = 0; round < 2; round++) {
        await assertList(service, books, { q: '77', sort: '-title' }, [50]);
        await assertList(service, books, { author: 'R 3', sort: 'year', year_from: '50' }, [500]);
        await assertList(service, books, { sort: '-author', count: 'true' }, [999]);
      }
    });
  });
}

suite('The parameters of GET /books', () => {
  test('gets 400 Invalid query for an invalid value of a known parameter, after the token check', async () => {
    await using service = await startService();
    await createBooks(service, CORPUS);
    const cursor = linkOf(await requestSearch(service, '/books?limit=1&sort=title'))?.split('after=')[1];
    for (const query of [
      ...['', '0', '-1', '1001', '1.5', 'ten', '1e2', '+1', '0x1', ' 1'].map((limit) => `limit=${limit}`),
      ...['', 'isbn', 'Title', '--id', '-', 'title,id', 'constructor'].map((sort) => `sort=${sort}`),
      ...['', 'x', '1.5', '9007199254740992', '-9007199254740992', '1e3'].flatMap((year) =>
        ['year', 'year_from', 'year_to'].map((name) => `${name}=${year}`),
      ),
      ...['', 'x', 'W10', '%F0%9F%93%9A', `${cursor}A`].map((after) => `sort=title&after=${after}`),
      ...['', '&sort=-title', '&sort=id', '&sort=author'].map((sort) => `after=${cursor}${sort}`),
      ...['', '1', 'yes', 'TRUE'].map((count) => `count=${count}`),
      `q=${'a-'.repeat(33)}`,
      ...['title', 'author', 'q'].flatMap((name) =>
        ['%00', '%ff', '%', '%zz', '%ED%A0%80'].map((text) => `${name}=${text}`),
      ),
      'q=a&q=b',
      'limit=1&limit=1',
      'title=a&%74itle=a',
    ]) {
      const response = await service.fetch('GET', `/books?${query}`);
      assert.equal(response.status, 400, query);
      assert.deepEqual(await response.json(), { status: 400, message: 'Invalid query', data: null });
      const rejected = await service.fetch('GET', `/books?${query}`, undefined, {
        Authorization: 'nonsense',
      });
      assert.equal(rejected.status, 401, query);
    }
  });

  test('ignores unknown parameters', async () => {
    await using service = await startService();
    const books = await createBooks(service, CORPUS);
    for (const query of [
      '',
      'page=2',
      'page=%ff&%ff=1',
      'Limit=x',
      '&&',
      '=',
      'x&x&x',
      'toString=1&__proto__=1',
    ]) {
      const response = await service.fetch('GET', `/books?${query}`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('link'), null);
      assert.deepEqual(await booksIn(response), books, query);
    }
  });

  test('HEAD has the headers of GET, without content', async () => {
    await using service = await startService();
    await createBooks(service, CORPUS);
    const path = '/books?limit=3&sort=year&count=true';
    const [get, head] = [await requestSearch(service, path), await service.fetch('HEAD', path)];
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
    for (const name of ['link', 'x-total-count', 'content-type', 'cache-control'])
      assert.equal(head.headers.get(name), get.headers.get(name), name);
    assert.equal((await service.fetch('HEAD', '/books?sort=title')).status, 200);
  });
});
