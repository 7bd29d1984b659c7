import type { FastifyReply, FastifyRequest } from 'fastify';
import { bytesOfBooks, invalidIndex } from '../api/many-books.ts';
import { idInPath, toBookResult, WRITE_ATTEMPTS_MAX } from '../api/one-book.ts';
import type { SerialQueue } from '../api/serial-queue.ts';
import { type UnreadLimits, UnreadResponse } from '../api/unread-response.ts';
import { StoreUnavailable, UPDATED_BYTES_MAX } from '../book/book-store.ts';
import type { Book } from '../book/contract.ts';
import { entityTag } from '../book/entity-tag.ts';
import type { BodyRequest } from '../http/body/body-reader.ts';
import type { OutcomeName } from '../http/outcomes.ts';
import { evaluatePreconditions, isConditional } from '../http/preconditions.ts';
import { invalidQuery, linkToNext, type ParameterSchema, readParameters } from '../http/query-parameters.ts';
import { Rejection } from '../http/rejection.ts';
import type { HttpResult } from '../http/response.ts';
import type {
  BookHistory,
  Change,
  ChangeCursor,
  ChangePage,
  ChangeRequest,
  CursorFault,
  Deletion,
  RestoreFault,
} from './book-history.ts';
import { readChangeCursor, writeChangeCursor } from './change-cursor.ts';
import { CHANGES_BYTES_MAX } from './change-page.ts';
import type { Followers } from './followers.ts';
import { readIds } from './ids.ts';
import { changesParameters, historyParameters } from './operations.ts';

const encoder = new TextEncoder();

/** The `after` for the changes to come. */
const NOW = 'now' as const;
const NO_CURSOR = 'after must be the cursor of a change';

const CURSOR_FAULTS: Readonly<Record<CursorFault, Rejection>> = {
  removed: new Rejection('changesRemoved'),
  unknown: invalidQuery('after is the cursor of another store'),
};

const RESTORE_FAULTS: Readonly<Record<RestoreFault['fault'], OutcomeName>> = {
  absent: 'bookNotFound',
  exists: 'bookExists',
  changed: 'preconditionFailed',
  'too long': 'payloadTooLarge',
};

/** The handlers of the log of changes. All need a token. */
export class HistoryHandlers {
  readonly #history: BookHistory;
  readonly #followers: Followers;
  readonly #unread: UnreadLimits;
  readonly #queue: SerialQueue;

  constructor(history: BookHistory, followers: Followers, unread: UnreadLimits, queue: SerialQueue) {
    this.#history = history;
    this.#followers = followers;
    this.#unread = unread;
    this.#queue = queue;
  }

  /** GET /changes */
  readonly follow = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const target = request.url;
    const query = readQuery(target, changesParameters);
    if (query instanceof Rejection) return query;
    const { given, cursor, limit } = query;
    if (given.get('order') === 'desc')
      return this.#listLastFirst(request, reply, 'all', 'changesRetrieved', '/changes');

    const after = cursor === NOW ? await this.#history.last() : cursor;
    const response = new UnreadResponse(this.#unread, reply);
    let page = await this.#readPage({ after, limit }, response);
    if (page instanceof Rejection) return page;
    const waitMs = request.method === 'HEAD' ? 0 : Number(given.get('wait') ?? 0) * 1_000;
    if (page.changes.length === 0 && waitMs > 0) {
      const next = await this.#followers.next({ after: page.next, limit }, waitMs, reply);
      page = next ? toPage(next) : page;
      if (page instanceof Rejection) return page;
    }
    return toResult('changesRetrieved', page.changes, response, linkTo('/changes', target, page.next));
  };

  /** GET /book/{id}/history */
  readonly listOfBook = async (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> => {
    const id = idInPath(request);
    return this.#listLastFirst(request, reply, id, 'historyRetrieved', `/book/${id}/history`);
  };

  /** GET /books/deleted */
  readonly listDeleted = (request: FastifyRequest, reply: FastifyReply): Promise<HttpResult> =>
    this.#listLastFirst(request, reply, 'deleted', 'deletedBooksRetrieved', '/books/deleted');

  /** POST /books/restore */
  readonly restoreMany = async ({ body }: BodyRequest, reply: FastifyReply): Promise<HttpResult> => {
    if (body instanceof Rejection) return body;
    return this.#queue.run(reply, async () => {
      const ids = await readIds(body);
      if (ids instanceof Rejection) return ids;
      const response = new UnreadResponse(this.#unread, reply);
      await response.holdSoon(bytesOfBooks(ids.length));
      const deletions = ids.map((id) => ({ id }));
      const result = await this.#history.restore({ deletions, bytesMax: UPDATED_BYTES_MAX });
      if ('fault' in result) return rejectRestore(result);
      const json = encoder.encode(JSON.stringify(result));
      response.hold(json.length);
      return { outcome: 'booksRestored', json: [json] };
    });
  };

  /** POST /book/{id}/restore */
  readonly restore = async (request: FastifyRequest): Promise<HttpResult> => {
    const id = idInPath(request);
    for (let attempt = 1; attempt <= WRITE_ATTEMPTS_MAX; attempt++) {
      const deletion = isConditional(request) ? await this.#deletionIfMet(request, id) : { id };
      if (deletion instanceof Rejection) return deletion;
      const result = await this.#history.restore({ deletions: [deletion] });
      if (!('fault' in result)) return toBookResult('bookRestored', result[0] as Book);
      if (result.fault !== 'changed') return { outcome: RESTORE_FAULTS[result.fault] };
    }
    throw new StoreUnavailable('contention');
  };

  /** The last change of a book, if it is no deletion or its book meets the preconditions: no other one is undone. */
  async #deletionIfMet(request: FastifyRequest, id: number): Promise<Deletion | Rejection> {
    const page = toPage(await this.#history.read({ of: id, limit: 1 }));
    if (page instanceof Rejection) return page;
    const [last] = page.changes;
    if (!last) return new Rejection('bookNotFound');
    const isMet = last.type !== 'deleted' || evaluatePreconditions(request, entityTag(last.book)) === 'met';
    return isMet ? { id, cursor: last.cursor } : new Rejection('preconditionFailed');
  }

  async #readPage(request: ChangeRequest, response: UnreadResponse): Promise<ChangePage | Rejection> {
    return toPage(await this.#history.read(request, () => response.expectRoom(CHANGES_BYTES_MAX)));
  }

  /** The changes of a book, of all books, or the deletions. */
  async #listLastFirst(
    request: FastifyRequest,
    reply: FastifyReply,
    of: NonNullable<ChangeRequest['of']>,
    outcome: OutcomeName,
    path: string,
  ): Promise<HttpResult> {
    const target = request.url;
    const query = readQuery(target, historyParameters);
    if (query instanceof Rejection) return query;
    const { cursor: after, limit } = query;
    if (after === NOW) return invalidQuery(NO_CURSOR);
    const response = new UnreadResponse(this.#unread, reply);
    const page = await this.#readPage({ of, after, limit }, response);
    if (page instanceof Rejection) return page;
    const { changes, next } = page;
    if (typeof of === 'number' && !after && !next) return { outcome: 'bookNotFound' };
    const isEnd = next?.position === after?.position;
    return toResult(outcome, changes, response, isEnd ? {} : linkTo(path, target, next));
  }
}

function toPage(page: ChangePage | CursorFault): ChangePage | Rejection {
  return typeof page === 'string' ? CURSOR_FAULTS[page] : page;
}

function rejectRestore({ fault, index }: RestoreFault): Rejection {
  return new Rejection(RESTORE_FAULTS[fault], fault === 'too long' ? {} : { headers: invalidIndex(index) });
}

/** The response counts among what clients have not read: a guard against clients that never read. */
function toResult(
  outcome: OutcomeName,
  changes: readonly Change[],
  response: UnreadResponse,
  headers: Record<string, string>,
): HttpResult {
  const json = rendered.get(changes) ?? encoder.encode(`[${changes.map(toJson).join(',')}]`);
  rendered.set(changes, json);
  response.hold(json.length);
  return { outcome, json: [json], headers };
}

/** The JSON of pages: those of all followers that waited for the same change are one, which would take some milliseconds for each. */
const rendered = new WeakMap<readonly Change[], Uint8Array>();

function toJson({ cursor, type, at, book, gapAfter }: Change): string {
  return JSON.stringify({
    cursor: writeChangeCursor(cursor),
    type,
    at: new Date(at).toISOString(),
    book,
    gapAfter,
  });
}

function linkTo(path: string, target: string, next: ChangeCursor | undefined): Record<string, string> {
  return next ? linkToNext(path, target, writeChangeCursor(next)) : {};
}

/** Reads parameters with a limit and a cursor. */
function readQuery<Known extends string>(
  target: string,
  parameters: Readonly<Record<Known | 'limit' | 'after', ParameterSchema>>,
) {
  const given = readParameters(target, parameters);
  if (given instanceof Rejection) return given;
  const text = given.get('after');
  const cursor = text === NOW ? NOW : text === undefined ? undefined : readChangeCursor(text);
  if (text !== undefined && !cursor) return invalidQuery(NO_CURSOR);
  return { given, cursor, limit: Number(given.get('limit') ?? parameters.limit.default) };
}
