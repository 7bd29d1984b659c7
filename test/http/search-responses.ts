import assert from 'node:assert/strict';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { PAGE_MS_MAX } from '../../src/search/page-builder.ts';
import { expectedBooks, type Parameters } from '../../testkit/search-reference.ts';
import type { Service } from '../../testkit/service.ts';

/** Asserts that a service returns the books of the reference, in one response with the number of all matches, and in pages. */
export async function assertList(
  service: Service,
  books: readonly Book[],
  parameters: Parameters,
  limits: readonly number[] = [7],
): Promise<void> {
  const expected = expectedBooks(books, parameters);
  // Without a parameter it would not be a search.
  const asked = parameters.twins ? parameters : { sort: 'id', ...parameters };
  const all = await requestSearch(service, pathOf({ ...asked, count: 'true' }));
  assert.equal(all.status, 200);
  assert.equal(all.headers.get('link'), null);
  const { offset: _, from: __, ...conditions } = parameters;
  const { length: total } = expectedBooks(books, conditions);
  assert.equal(all.headers.get('x-total-count'), `${total}`, JSON.stringify(parameters).slice(0, 200));
  const returned = await booksIn(all);
  assert.deepEqual(idsOf(returned), idsOf(expected), JSON.stringify(parameters).slice(0, 200));
  assert.equal(JSON.stringify(returned), JSON.stringify(expected));
  for (const limit of limits) {
    if (expected.length > 9 * limit) continue;
    const walked = await walk(service, { ...parameters, limit: `${limit}` });
    assert.deepEqual(idsOf(walked), idsOf(expected), JSON.stringify({ ...parameters, limit }).slice(0, 200));
  }
}

/** Follows the links from page to page. All pages but the last are full, unless they took so long that they may end before. */
export async function walk(service: Service, parameters: Parameters): Promise<Book[]> {
  return walkFrom(service, pathOf(parameters), Number(parameters.limit));
}

export async function walkFrom(service: Service, path: string, limit?: number): Promise<Book[]> {
  const books: Book[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const startMs = performance.now();
    const response = await requestSearch(service, next);
    const isInTime = performance.now() - startMs < PAGE_MS_MAX;
    assert.equal(response.status, 200, next);
    next = linkOf(response);
    const page = await booksIn(response);
    if (limit !== undefined && next !== undefined && isInTime) assert.equal(page.length, limit);
    books.push(...page);
  }
  return books;
}

/** Requests a list, a search again while its index is being built: on a busy machine, that takes longer than a search waits. */
export async function requestSearch(service: Service, path: string): Promise<Response> {
  for (;;) {
    const response = await service.fetch('GET', path);
    if (!response.headers.get('error-detail')?.startsWith('The search is being prepared')) return response;
  }
}

export function pathOf(parameters: Parameters): string {
  return `/books?${new URLSearchParams(parameters).toString()}`;
}

/** The target of the link to the next page (RFC 8288). */
export function linkOf(response: Response): string | undefined {
  const link = response.headers.get('link');
  if (link === null) return undefined;
  const [, target] = /^<([^<>]+)>; rel="next"$/.exec(link) ?? assert.fail(link);
  return target;
}

export async function booksIn(response: Response): Promise<Book[]> {
  assert.equal(response.status, 200);
  return ((await response.json()) as { data: Book[] }).data;
}

export function idsOf(books: readonly Book[]): number[] {
  return books.map(({ id }) => id);
}

/** Creates books. @returns them in the order of their ids */
export async function createBooks(service: Service, books: readonly BookFields[]): Promise<Book[]> {
  const response = await service.fetch('POST', '/books', JSON.stringify(books));
  assert.equal(response.status, 201);
  return ((await response.json()) as { data: Book[] }).data;
}
