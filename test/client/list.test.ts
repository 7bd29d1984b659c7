import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Book, type BookQuery, RefusedError } from '../../client/index.ts';
import { hasty } from './clients.ts';
import { type Reaction, ScriptedServer } from './scripted-server.ts';

const BOOKS: readonly Book[] = [1, 2, 3, 4, 5].map((id) => ({
  id,
  title: `Book ${id}`,
  author: 'Homer',
  year: -id,
}));

function page(books: readonly Book[], headers: Readonly<Record<string, string>> = {}): Reaction {
  return { status: 200, data: books, headers };
}

function pageWithLink(books: readonly Book[], link: string): Reaction {
  return page(books, { Link: link });
}

async function all(list: AsyncIterable<Book>): Promise<Book[]> {
  const books: Book[] = [];
  for await (const book of list) books.push(book);
  return books;
}

describe('A list', () => {
  test('has the books of all pages, in their order', async () => {
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), '</books?limit=2&after=a>; rel="next"'),
      pageWithLink(BOOKS.slice(2, 4), '</books?limit=2&after=b>; rel="next"'),
      page(BOOKS.slice(4)),
    ]);
    assert.deepEqual(await all(hasty(server).client.list({ limit: 2 })), BOOKS);
    const paths = server.requests.map(({ path }) => path);
    assert.deepEqual(paths, ['/books?limit=2', '/books?limit=2&after=a', '/books?limit=2&after=b']);
  });

  test('may be empty, and may have empty pages', async () => {
    await using server = await ScriptedServer.start([
      page([]),
      pageWithLink([], '</books?after=a>; rel="next"'),
      page(BOOKS),
    ]);
    const { client } = hasty(server);
    assert.deepEqual(await all(client.list()), []);
    assert.deepEqual(await all(client.list()), BOOKS);
  });

  test('requests pages only when they are needed', async () => {
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), '</books?after=a>; rel="next"'),
      pageWithLink(BOOKS.slice(2), '</books?after=b>; rel="next"'),
    ]);
    const list = hasty(server).client.list();
    assert.equal(server.requests.length, 0);
    for await (const { id } of list) if (id === 3) break;
    assert.equal(server.requests.length, 2);
  });

  test('starts again with each iteration', async () => {
    await using server = await ScriptedServer.start([page(BOOKS), page(BOOKS)]);
    const list = hasty(server).client.list();
    assert.deepEqual(await all(list), await all(list));
  });

  test('retries a page that is truncated', async () => {
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), '</books?after=a>; rel="next"'),
      'cut in the content',
      { status: 503, message: 'Service unavailable' },
      page(BOOKS.slice(2)),
    ]);
    assert.deepEqual(await all(hasty(server).client.list()), BOOKS);
  });

  test('throws the error of a page', async () => {
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), '</books?after=a>; rel="next"'),
      { status: 500, message: 'Internal server error' },
    ]);
    const seen: number[] = [];
    await assert.rejects(async () => {
      for await (const { id } of hasty(server).client.list()) seen.push(id);
    }, RefusedError);
    assert.deepEqual(seen, [1, 2]);
  });

  test('of a service without pages has all books', async () => {
    await using server = await ScriptedServer.start([page(BOOKS)]);
    assert.deepEqual(await all(hasty(server).client.list({ limit: 2 })), BOOKS);
  });
});

describe('Pages', () => {
  test('have the total, if requested, and the cursor of the next page', async () => {
    await using server = await ScriptedServer.start([
      page(BOOKS.slice(0, 3), {
        'X-Total-Count': '5',
        Link: '</books?limit=3&count=true&after=a%3D%3D>; rel="next"',
      }),
      page(BOOKS.slice(3), { 'X-Total-Count': '5' }),
    ]);
    const pages = [];
    for await (const one of hasty(server).client.list({ limit: 3, count: true }).pages()) pages.push(one);
    assert.deepEqual(pages, [
      { books: BOOKS.slice(0, 3), total: 5, offset: undefined, next: 'a==' },
      { books: BOOKS.slice(3), total: 5, offset: undefined, next: undefined },
    ]);
    assert.equal(server.requests[0]?.path, '/books?limit=3&count=true');
  });

  test('begin anywhere, and have the number of the books before them', async () => {
    const rest = page(BOOKS.slice(3), { 'X-Total-Count': '5', 'X-Offset': '3' });
    await using server = await ScriptedServer.start([rest, rest]);
    const { client } = hasty(server);
    for (const query of [{ offset: 3 }, { sort: 'title', from: 'm' }] as const) {
      const { value } = (await client
        .list({ ...query, count: true })
        .pages()
        .next()) as { value: unknown };
      assert.deepEqual(value, { books: BOOKS.slice(3), total: 5, offset: 3, next: undefined });
    }
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/books?limit=500&count=true&offset=3', '/books?limit=500&count=true&sort=title&from=m'],
    );
  });

  test('can be continued later', async () => {
    await using server = await ScriptedServer.start([page(BOOKS.slice(3))]);
    const { client } = hasty(server);
    assert.deepEqual(await all(client.list({ sort: '-year', after: 'a==' })), BOOKS.slice(3));
    assert.equal(server.requests[0]?.path, '/books?limit=500&sort=-year&after=a%3D%3D');
  });

  test('have no total by default', async () => {
    await using server = await ScriptedServer.start([page(BOOKS)]);
    const { value } = (await hasty(server).client.list().pages().next()) as { value: unknown };
    assert.deepEqual(value, { books: BOOKS, total: undefined, offset: undefined, next: undefined });
  });
});

describe('A query', () => {
  const QUERIES: [query: BookQuery, search: string][] = [
    [{}, 'limit=500'],
    [{ limit: undefined, count: false, title: undefined }, 'limit=500'],
    [
      { title: '100 %', author: 'Æsop & Co', q: 'naïve +' },
      'limit=500&title=100+%25&author=%C3%86sop+%26+Co&q=na%C3%AFve+%2B',
    ],
    [{ year: 0, year_from: -750, year_to: 1999 }, 'limit=500&year=0&year_from=-750&year_to=1999'],
    [{ sort: '-title', limit: 1, count: true }, 'limit=1&count=true&sort=-title'],
    [{ title: '' }, 'limit=500&title='],
  ];
  for (const [query, search] of QUERIES) {
    test(`is sent as its parameters: ${search}`, async () => {
      await using server = await ScriptedServer.start([page([])]);
      await all(hasty(server).client.list(query));
      assert.equal(server.requests[0]?.path, `/books?${search}`);
    });
  }

  test('that the service rejects throws when the list is iterated', async () => {
    await using server = await ScriptedServer.start([{ status: 400, message: 'Invalid query' }]);
    const list = hasty(server).client.list({ limit: 0 });
    await assert.rejects(all(list), { name: 'RefusedError', status: 400, message: 'Invalid query' });
  });
});

describe('The link to the next page', () => {
  const LINKS: Record<string, string> = {
    'a path': '</books?after=b>; rel="next"',
    'a query': '<?after=b>; rel="next"',
    'a relative path': '<books?after=b>; rel="next"',
    'a URL': '<http://localhost/books?after=b>; rel="next"',
    'without quotes': '</books?after=b>;rel=next',
    'among others':
      '</books?after=a>; rel="prev", </books?after=b>; title="a, b"; rel="next", </x?y>; rel="last"',
    'one of several relations': '</books?after=b>; rel="last next"',
    'in another case': '</books?after=b>; REL="Next"',
    'with a comma and a semicolon in its URL': '</books?x=1,2;3&after=b>; rel="next"',
    'with a fragment': '</books?after=b#top>; rel="next"',
  };
  for (const [form, link] of Object.entries(LINKS)) {
    test(`is parsed: ${form}`, async () => {
      await using server = await ScriptedServer.start([pageWithLink([], link), page([])]);
      const nexts = [];
      for await (const { next } of hasty(server).client.list().pages()) nexts.push(next);
      assert.deepEqual(nexts, ['b', undefined]);
      assert.equal(new URL(server.requests[1]?.path ?? '', server.url).searchParams.get('after'), 'b');
    });
  }

  for (const link of [
    '</books?after=b>; rel="prev"',
    '</books?after=b>',
    '',
    'rel="next"',
    '<>; rel="next"',
  ]) {
    test(`is absent: ${link}`, async () => {
      await using server = await ScriptedServer.start([pageWithLink(BOOKS, link)]);
      assert.deepEqual(await all(hasty(server).client.list()), BOOKS);
      assert.equal(server.requests.length, 1);
    });
  }

  test('is requested from the service, so that no other server gets the token', async () => {
    await using stranger = await ScriptedServer.start([page(BOOKS)]);
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), `<${stranger.url}/books?after=b>; rel="next"`),
      page(BOOKS.slice(2)),
    ]);
    assert.deepEqual(await all(hasty(server).client.list()), BOOKS);
    assert.equal(stranger.requests.length, 0);
  });

  test('keeps the path of a proxy in front of the service', async () => {
    await using server = await ScriptedServer.start([
      pageWithLink(BOOKS.slice(0, 2), '</books?after=b>; rel="next"'),
      page(BOOKS.slice(2)),
    ]);
    const { client } = hasty({ url: `${server.url}/library/api/` });
    assert.deepEqual(await all(client.list()), BOOKS);
    assert.equal(server.requests[1]?.path, '/library/api/books?after=b');
  });
});
