import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ListHandler } from '../api/list-handler.ts';
import { type UnreadLimits, UnreadResponse } from '../api/unread-response.ts';
import { onClose } from '../http/connections/node-response.ts';
import { noContent, streamArray, toArray } from '../http/json-array.ts';
import { linkToNext } from '../http/query-parameters.ts';
import { Rejection } from '../http/rejection.ts';
import type { HttpResult } from '../http/response.ts';
import type { BookSearch, SearchPage } from './book-search.ts';
import { writeCursor } from './cursor.ts';
import { SEARCH_PAGE_BYTES_MAX } from './page-builder.ts';
import { type ListRequest, limitOfPlainPage, readListRequest } from './query.ts';
import { TimedSearch } from './timed-search.ts';

/** The number of concurrent searches. */
const SEARCHES_MAX = 500;

/** The length of a page of a response in several pages, of which the memory has two, as of the whole list. */
const PART_BYTES = 128 * 1_024;

/** GET /books with a query; without one, it is the list of all books. */
export class SearchHandler {
  readonly #search: BookSearch;
  readonly #lists: ListHandler;
  readonly #unread: UnreadLimits;
  readonly #searchMs: number;
  /** The number of searches that are running or being sent. */
  count = 0;

  /**
   * @param lists responds without a query, and reads pages of all books
   * @param searchMs the time until a response begins, and then until its next part
   */
  constructor(search: BookSearch, lists: ListHandler, unread: UnreadLimits, searchMs: number) {
    this.#search = search;
    this.#lists = lists;
    this.#unread = unread;
    this.#searchMs = searchMs;
  }

  readonly handle = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const list = readListRequest(request.url);
    if (list === undefined) return this.#lists.handle(request, reply);
    if (list instanceof Rejection) return list;
    const limit = limitOfPlainPage(list);
    return limit === undefined
      ? this.#run(list, request, reply)
      : this.#readPage(list, limit, request, reply);
  };

  async #readPage(
    { after, sort }: ListRequest,
    limit: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<HttpResult> {
    const { json, last: id } = await this.#lists.readPage(after?.id, limit, reply);
    const page = { outcome: 'booksRetrieved', json: toArray([json]) } as const;
    return id === undefined
      ? page
      : { ...page, headers: linkToNext('/books', request.url, writeCursor(sort, { key: id, id })) };
  }

  async #run(list: ListRequest, request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> {
    if (this.count >= SEARCHES_MAX) return { outcome: 'serviceUnavailable' };
    const bytesMax = list.limit === undefined ? PART_BYTES : SEARCH_PAGE_BYTES_MAX;
    const response = new UnreadResponse(this.#unread, reply);
    response.expectRoom(bytesMax);
    this.count++;
    onClose(reply, () => this.count--);
    const query = { ...list.query, bytesMax };
    const search = new TimedSearch(this.#search, query, reply, this.#searchMs);
    const headers = list.isCounted ? await countMatches(search, list) : {};
    // As in the whole list, an unavailable store is still a 503.
    const first = await search.next(list.limit ?? Number.MAX_SAFE_INTEGER, list.after);
    if (list.limit !== undefined || first.more === 'no') {
      response.hold(first.json.length);
      const json = toArray([first.json]);
      if (first.more === 'no' || !first.last) return { outcome: 'booksRetrieved', json, headers };
      const link = linkToNext('/books', request.url, writeCursor(list.sort, first.last));
      return { outcome: 'booksRetrieved', json, headers: { ...headers, ...link } };
    }
    if (request.method === 'HEAD') return { outcome: 'booksRetrieved', json: noContent(), headers };
    // While there are no headers yet, so that too little memory is a 503.
    response.hold(Math.max(2 * PART_BYTES, first.json.length));
    return { outcome: 'booksRetrieved', json: streamArray(allMatches(search, first, response)), headers };
  }
}

/** The headers of a list with `count`. */
async function countMatches(search: TimedSearch, { query, after, isFrom }: ListRequest) {
  const total = await search.count();
  const offset = isFrom ? await search.countUpTo(after, total) : query.skip;
  return {
    'x-total-count': `${total}`,
    ...(offset !== undefined && { 'x-offset': `${Math.min(offset, total)}` }),
  };
}

async function* allMatches(
  search: TimedSearch,
  first: SearchPage,
  response: UnreadResponse,
): AsyncGenerator<Uint8Array> {
  for (let page = first; ; page = await search.next(Number.MAX_SAFE_INTEGER, page.last)) {
    // Only a book that another program has stored is longer than a page.
    response.hold(Math.max(2 * PART_BYTES, page.json.length));
    yield page.json;
    if (page.more === 'no') return;
    search.restartWait();
  }
}
