import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tokens } from '../../auth/tokens.ts';
import { readBookId } from '../../book/book.ts';
import type { BookHistory, ChangePage } from '../../book/book-history.ts';
import { StoreUnavailable } from '../../book/book-store-interface.ts';
import { Invalid } from '../../book/invalid.ts';
import { type MemoryBudget, Reservation } from '../../http/body/memory-budget.ts';
import type { HttpResult } from '../../http/response.ts';
import { noContent } from '../list/pages.ts';
import { type ParameterSchema, queryAfter, readParameters } from '../list/query.ts';
import { type ChangeCursor, readChangeCursor, writeChangeCursor } from './change-cursor.ts';
import { eventsOf, jsonOf } from './change-response.ts';
import type { Followers } from './followers.ts';

const limit = {
  type: 'integer',
  minimum: 1,
  maximum: 1_000,
  default: 100,
  description: 'The maximum number of changes in a response.',
} as const;

export const historyParameters = {
  limit,
  after: { type: 'string', minLength: 1, description: 'The cursor of the last change of the previous page.' },
} as const satisfies Record<string, ParameterSchema>;

export const changesParameters = {
  limit,
  after: {
    type: 'string',
    minLength: 1,
    description:
      'The cursor of the last change seen, or `now` for the changes to come; absent, the changes begin with the first that is kept.',
  },
  wait: {
    type: 'integer',
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'The seconds to wait for a change when there is none.',
  },
} as const satisfies Record<string, ParameterSchema>;

/** The longest time without an event in a stream; then a comment is sent, so that proxies keep the connection. */
const COMMENT_MS = 15_000;
/** The time until a stream reads from an unavailable store again. */
const RETRY_MS = 1_000;

/** The `after` for the changes to come. */
const NOW = 'now' as const;
const NO_CURSOR = 'after must be the cursor of a change';
const OTHER_STORE = 'after is the cursor of another store';

const EVENT_STREAM = 'text/event-stream';
const COMMENT = Buffer.from(':\n\n');

/** The handlers of the log of changes. All need a token. */
export class ChangeHandlers {
  readonly #history: BookHistory;
  readonly #tokens: Tokens;
  readonly #followers: Followers;
  readonly #unread: MemoryBudget;

  /** @param unread the memory of responses that clients have not read yet */
  constructor(history: BookHistory, tokens: Tokens, followers: Followers, unread: MemoryBudget) {
    this.#history = history;
    this.#tokens = tokens;
    this.#followers = followers;
    this.#unread = unread;
  }

  /** GET /changes */
  readonly follow = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const target = request.raw.url ?? '';
    const isStream = request.headers.accept?.includes(EVENT_STREAM) ?? false;
    const lastEventId = isStream ? request.headers['last-event-id']?.toString() : undefined;
    const query = readQuery(target, changesParameters, lastEventId);
    if (query instanceof Invalid) return { outcome: 'invalidQuery', detail: query.detail };
    const { given } = query;
    const cursor = query.cursor === NOW ? await this.#newestCursor() : query.cursor;
    const read = (after = cursor?.position) => this.#history.read({ after, limit: query.limit });

    let page = await read();
    let error = errorOf(cursor, page);
    if (!error && isStream) return this.#stream(request, reply, { page, after: cursor?.position, read });
    const waitMs = request.method === 'HEAD' ? 0 : Number(given.get('wait') ?? 0) * 1_000;
    if (!error && page.changes.length === 0 && waitMs > 0) {
      this.#followers.reached(page.last, page.last, reply.raw);
      if (await this.#wait(page.last, waitMs, reply)) page = await read();
      error = errorOf(cursor, page);
    }
    if (error) return error;
    const position = page.reached ?? cursor?.position ?? page.removed;
    const next = queryAfter(target, writeChangeCursor({ log: page.log, position }));
    return this.#withChanges('changesRetrieved', page, reply, `</changes?${next}>; rel="next"`);
  };

  /** GET /book/{id}/history */
  readonly listOfBook = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const id = readBookId((request.params as { id: string }).id);
    if (id === undefined) return { outcome: 'bookNotFound' };
    return this.#listLastFirst(request, reply, id);
  };

  /** GET /books/deleted */
  readonly listDeleted = (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> =>
    this.#listLastFirst(request, reply);

  /** The changes of a book; without an id, the deletions of all. */
  async #listLastFirst(request: FastifyRequest, reply: FastifyReply, id?: number): Promise<HttpResult> {
    const target = request.raw.url ?? '';
    const query = readQuery(target, historyParameters);
    if (query instanceof Invalid) return { outcome: 'invalidQuery', detail: query.detail };
    if (query.cursor === NOW) return { outcome: 'invalidQuery', detail: NO_CURSOR };
    const { cursor } = query;
    const isOfDeleted = id === undefined;
    const page = await this.#history.read({ id, isOfDeleted, after: cursor?.position, limit: query.limit });
    const { log, reached: position } = page;
    const error = errorOf(cursor, page);
    if (error?.outcome === 'invalidQuery') return error;
    if (!isOfDeleted && !cursor && position === undefined) return { outcome: 'bookNotFound' };
    const next = position !== undefined && queryAfter(target, writeChangeCursor({ log, position }));
    const path = isOfDeleted ? '/books/deleted' : `/book/${id}/history`;
    const link = next ? `<${path}?${next}>; rel="next"` : undefined;
    return this.#withChanges(isOfDeleted ? 'deletedBooksRetrieved' : 'historyRetrieved', page, reply, link);
  }

  /** The cursor of the last change so far. */
  async #newestCursor(): Promise<ChangeCursor> {
    const page = await this.#history.read({ after: Number.MAX_SAFE_INTEGER, limit: 1 });
    return { log: page.log, position: Math.max(page.removed, Math.min(page.last, page.newest)) };
  }

  #withChanges(
    outcome: 'changesRetrieved' | 'deletedBooksRetrieved' | 'historyRetrieved',
    page: ChangePage,
    reply: FastifyReply,
    link: string | undefined,
  ): HttpResult {
    const json = jsonOf(page);
    if (!new Reservation(this.#unread, reply.raw).tryResize(json.length))
      return { outcome: 'serviceUnavailable' };
    return { outcome, json: [json], ...(link && { headers: { link } }) };
  }

  #stream(request: FastifyRequest, reply: FastifyReply, feed: Feed): HttpResult {
    const events = request.method === 'HEAD' ? noContent() : this.#events(request, reply, feed);
    return { outcome: 'changesRetrieved', stream: events, headers: { 'content-type': EVENT_STREAM } };
  }

  async *#events({ headers }: FastifyRequest, reply: FastifyReply, feed: Feed): AsyncGenerator<Uint8Array> {
    const unread = new Reservation(this.#unread, reply.raw);
    let page: ChangePage | undefined = feed.page;
    let { after } = feed;
    // The headers are sent with the first part.
    yield COMMENT;
    const remainingMs = this.#tokens.remainingMsOf(headers.authorization ?? '');
    const isFollowing = () => !this.#followers.isStopping && !reply.raw.closed && remainingMs() > 0;
    while (isFollowing()) {
      if (page) this.#followers.reached(after ?? page.removed, page.last, reply.raw);
      if (page && page.changes.length > 0) {
        const events = eventsOf(page);
        if (!unread.tryResize(events.length)) return;
        yield events;
        unread.resize(0);
        after = page.changes.at(-1)?.position;
      } else {
        const startedMs = performance.now();
        const ms = Math.min(page ? COMMENT_MS : RETRY_MS, remainingMs());
        const hasChange = await this.#wait(page?.last ?? Number.POSITIVE_INFINITY, ms, reply);
        if (performance.now() - startedMs >= COMMENT_MS) yield COMMENT;
        if (page && !hasChange) continue;
      }
      page = await feed.read(after).catch(undefinedIfUnavailable);
      // The follower was too slow, or the store is another one: its next request gets the error.
      if (page && after !== undefined && errorOf({ log: feed.page.log, position: after }, page)) return;
    }
  }

  /** Waits for a change after a position. Meanwhile the connection may be idle for longer than others. */
  async #wait(position: number, ms: number, { raw, request }: FastifyReply): Promise<boolean> {
    const { socket } = request.raw;
    const { timeout = 0 } = socket;
    socket.setTimeout(0);
    const hasChange = await this.#followers.wait(position, ms, raw);
    socket.setTimeout(timeout);
    return hasChange;
  }
}

/** The position where a stream begins, and the function that reads its next changes. */
interface Feed {
  readonly page: ChangePage;
  readonly after: number | undefined;
  readonly read: (after: number | undefined) => Promise<ChangePage>;
}

/** Reads parameters with a limit and a cursor. @param lastEventId precedes `after` */
function readQuery<Known extends string>(
  target: string,
  parameters: Readonly<Record<Known | 'limit' | 'after', ParameterSchema>>,
  lastEventId?: string,
) {
  const given = readParameters(target, parameters);
  if (given instanceof Invalid) return given;
  const text = lastEventId || given.get('after');
  const cursor = text === NOW ? NOW : text === undefined ? undefined : readChangeCursor(text);
  if (text !== undefined && !cursor) return new Invalid(NO_CURSOR);
  return { given, cursor, limit: Number(given.get('limit') ?? limit.default) };
}

/** The error of a cursor with which a page was read. */
function errorOf(cursor: ChangeCursor | undefined, page: ChangePage): HttpResult | undefined {
  if (!cursor) return undefined;
  if (cursor.log !== page.log || cursor.position > page.newest)
    return { outcome: 'invalidQuery', detail: OTHER_STORE };
  return cursor.position < page.removed ? { outcome: 'changesRemoved' } : undefined;
}

function undefinedIfUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}
