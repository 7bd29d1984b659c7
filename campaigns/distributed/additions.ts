import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { HttpResponse } from '../../conformance/client.ts';
import type { Service } from '../../conformance/service.ts';
import type { Book, BookFields } from '../../src/book/contract.ts';

const WORDS = ['river', 'garden', 'winter', 'letters', 'island', 'history', 'silence', 'orchard'];

/** A query, and the books that it selects, in order. */
interface Query {
  readonly text: string;
  matches(book: Book): boolean;
  compare?(one: Book, other: Book): number;
}

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other));

const QUERIES: readonly Query[] = [
  { text: '', matches: () => true },
  { text: 'q=garden', matches: ({ title }) => title.includes('garden') },
  { text: 'q=garden%20winter', matches: ({ title }) => title.includes('garden') && title.includes('winter') },
  { text: 'title=LETTERS', matches: ({ title }) => title.includes('letters') },
  { text: 'author=author%207', matches: ({ author }) => author.includes('author 7') },
  { text: 'q=nothing%20has%20this', matches: () => false },
  { text: 'year=1950', matches: ({ year }) => year === 1950 },
  { text: 'sort=-id', matches: () => true, compare: (one, other) => other.id - one.id },
  { text: 'sort=title', matches: () => true, compare: (one, other) => byText(one.title, other.title) },
  {
    text: 'sort=-year',
    matches: () => true,
    compare: (one, other) => other.year - one.year || other.id - one.id,
  },
  {
    text: 'sort=author&q=river',
    matches: ({ title }) => title.includes('river'),
    compare: (one, other) => byText(one.author, other.author),
  },
];

/** Uses every addition to the contract on an empty service, and asserts the responses. @returns the number of requests */
export async function checkAdditions(service: Service, count: number): Promise<number> {
  let requests = 0;
  const send: Service['send'] = (...request) => {
    requests++;
    return service.send(...request);
  };
  const sent = Array.from({ length: count }, (_, index) => fieldsOf(index));
  const response = await send('POST', '/books', { body: JSON.stringify(sent) });
  const books = dataOf(response, 201) as Book[];
  assert.deepEqual(books.map(withoutId), sent);
  for (const query of QUERIES) await checkQuery(send, query, books);
  await checkKeys(send);
  await checkConditions(send, books[0] as Book);
  for (let start = 0; start < books.length; start += 50) {
    const some = books.slice(start, start + 50);
    const deleted = await Promise.all(some.map(({ id }) => send('DELETE', `/book/${id}`)));
    for (const [index, { status }] of deleted.entries())
      assert.equal(status, start + index === 0 ? 404 : 200);
  }
  return requests;
}

function fieldsOf(index: number): BookFields {
  const words = [0, 1, 2].map((place) => WORDS[(index * (place + 3) + Math.floor(index / 8)) % WORDS.length]);
  // Every hundredth text is long, so that it is not read with the others.
  const title = `${words.join(' ')} ${index}${index % 100 === 0 ? ' x'.repeat(1_000) : ''}`;
  return { title, author: `author ${index % 13}`, year: 1900 + (index % 120) };
}

/** Follows the links of all pages. */
async function checkQuery(send: Service['send'], query: Query, books: readonly Book[]): Promise<void> {
  const expected = books.filter((book) => query.matches(book));
  if (query.compare) expected.sort((one, other) => query.compare?.(one, other) || one.id - other.id);
  const found: Book[] = [];
  for (let target: string | undefined = `/books?limit=300&count=true&${query.text}`; target; ) {
    const response: HttpResponse = await send('GET', target);
    found.push(...(dataOf(response, 200) as Book[]));
    assert.equal(response.headers.get('x-total-count'), `${expected.length}`, query.text);
    target = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(found, expected, query.text);
  const whole = query.text === '' ? await send('GET', '/books') : undefined;
  if (whole) assert.deepEqual(dataOf(whole, 200), expected);
}

async function checkKeys(send: Service['send']): Promise<void> {
  // The keys of the run before are valid for a day.
  const key = randomUUID();
  const create = (title: string) =>
    send('POST', '/book', { body: JSON.stringify({ title }), headers: { 'Idempotency-Key': key } });
  const responses = await Promise.all([create('once'), create('once'), create('once')]);
  const [first, ...others] = responses.map((response) => dataOf(response, 201) as Book);
  for (const other of others) assert.deepEqual(other, first);
  assert.equal((await create('twice')).status, 422);
  dataOf(await send('DELETE', `/book/${first?.id}`), 200);
}

async function checkConditions(send: Service['send'], { id }: Book): Promise<void> {
  const path = `/book/${id}`;
  const tag = (await send('GET', path)).headers.get('etag') ?? '';
  assert.equal((await send('GET', path, { headers: { 'If-None-Match': tag } })).status, 304);
  const change = (year: number, condition: string) =>
    send('PUT', path, { body: JSON.stringify({ year }), headers: { 'If-Match': condition } });
  const changes = await Promise.all([1, 2, 3, 4].map((year) => change(year, tag)));
  assert.deepEqual(
    changes.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 412, 412, 412],
  );
  assert.equal((await send('DELETE', path, { headers: { 'If-Match': tag } })).status, 412);
  const changed = (await send('GET', path)).headers.get('etag') ?? '';
  assert.equal((await send('DELETE', path, { headers: { 'If-Match': changed } })).status, 200);
}

function dataOf({ status, body }: HttpResponse, expected: number): unknown {
  assert.equal(status, expected, body.slice(0, 200));
  return (JSON.parse(body) as { data: unknown }).data;
}

function withoutId({ title, author, year }: Book): BookFields {
  return { title, author, year };
}
