import type { HttpResponse } from '../client.ts';
import { type Book, expectHeader, expectNull, expectOutcome, expectSame, Mismatch } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

interface Change {
  readonly cursor: string;
  readonly type: string;
  readonly at: string;
  readonly book: Book;
}

const WAITING_ROUNDS = 5;

/** Decisions on the log of changes. The log may have other changes, and other clients may write. */
export const historyRules = rulesOf(
  { section: 'History', group: 'decision', needs: 'history' },
  {
    'GET /changes has every change once, in order, with cursor, type, at and book; an update that changes nothing is none':
      async (service) => {
        const cursor = await newestCursor(service);
        const book = await service.createBook();
        const path = `/book/${book.id}`;
        await service.put(path, { year: 1 });
        await service.put(path, { year: 1 });
        await service.delete(path);
        await service.post(`${path}/restore`, '');
        expectSame(`GET /changes: those of book ${book.id}`, await changesAfter(service, cursor, book.id), [
          ['created', book],
          ['updated', { ...book, year: 1 }],
          ['deleted', { ...book, year: 1 }],
          ['created', { ...book, year: 1 }],
        ]);
      },
    'every response of GET /changes has Link with rel="next", also an empty one': async (service) => {
      const cursor = await newestCursor(service);
      await service.createBook();
      let target = `/changes?limit=1000&after=${cursor}`;
      for (let isEmpty = false; !isEmpty; ) {
        const response = await service.get(target);
        isEmpty = expectChanges(response).length === 0;
        expectHeader(response, 'link', NEXT);
        target = nextOf(response) ?? '';
      }
    },
    'with wait, GET /changes responds when there is a change': async (service) => {
      // In one round, the book may be created before the service gets the first request.
      for (let round = 1; round <= WAITING_ROUNDS; round++) {
        const cursor = await newestCursor(service);
        const waiting = service.get(`/changes?wait=9&after=${cursor}`);
        // Other clients may write before.
        await service.createBook();
        const [change] = expectChanges(await waiting);
        if (!change) throw new Mismatch('GET /changes?wait=9', 'a change', '[]');
      }
    },
    '400 Invalid query when limit, wait or after is wrong, or after is no cursor of this service': async (
      service,
    ) => {
      const queries = ['limit=0', 'limit=1001', 'limit=x', 'wait=-1', 'wait=61', 'after=', 'after=x'];
      for (const query of [...queries, 'after=99999999-x', 'limit=1&limit=1'])
        expectNull(await service.get(`/changes?${query}`), 400, 'Invalid query');
    },
    'GET /book/{id}/history has the changes of the book, the last one first': async (service) => {
      const book = await service.createBook();
      await service.put(`/book/${book.id}`, { title: 'b' });
      const changes = await historyOf(service, book.id);
      expectSame(`GET /book/${book.id}/history`, changes.map(describe), [
        ['updated', { ...book, title: 'b' }],
        ['created', book],
      ]);
    },
    'GET /book/{id}/history and POST /book/{id}/restore: 404 Book not found when there never was such a book':
      async (service) => {
        for (const id of ['0', 'x', '9007199254740991']) {
          expectNull(await service.get(`/book/${id}/history`), 404, 'Book not found');
          expectNull(await service.post(`/book/${id}/restore`, ''), 404, 'Book not found');
        }
      },
    'POST /book/{id}/restore: 200 Book restored successfully; data is the book as it was deleted, under its id':
      async (service) => {
        const book = await service.createBook();
        await service.put(`/book/${book.id}`, { author: 'c' });
        await service.delete(`/book/${book.id}`);
        const restored = await service.post(`/book/${book.id}/restore`, '');
        const expected = { ...book, author: 'c' };
        expectSame(restored.request, expectOutcome(restored, 200, 'Book restored successfully'), expected);
        const found = await service.get(`/book/${book.id}`);
        expectSame(found.request, expectOutcome(found, 200, 'Book retrieved successfully'), expected);
      },
    'POST /book/{id}/restore: 409 Book exists when it does; of several at once exactly one succeeds': async (
      service,
    ) => {
      const { id } = await service.createBook();
      expectNull(await service.post(`/book/${id}/restore`, ''), 409, 'Book exists');
      await service.delete(`/book/${id}`);
      const restores = Array.from({ length: 8 }, () => service.post(`/book/${id}/restore`, ''));
      const statuses = (await Promise.all(restores)).map(({ status }) => status);
      expectSame(
        `POST /book/${id}/restore, 8 times`,
        statuses.toSorted((a, b) => a - b),
        [200, ...Array.from({ length: 7 }, () => 409)],
      );
    },
    'POST /books/restore: 200 Books restored successfully; data is the books in the order of the request':
      async (service) => {
        const [a, b] = [await service.createBook(), await service.createBook()];
        for (const { id } of [a, b]) await service.delete(`/book/${id}`);
        const restored = await restoreMany(service, [b.id, a.id]);
        expectSame(restored.request, expectOutcome(restored, 200, 'Books restored successfully'), [b, a]);
        for (const { id } of [a, b])
          expectOutcome(await service.get(`/book/${id}`), 200, 'Book retrieved successfully');
      },
    'POST /books/restore: 400 Invalid input, 404 Book not found and 409 Book exists restore nothing; Invalid-Index has the first id at fault':
      async (service) => {
        const [a, b] = [await service.createBook(), await service.createBook()];
        await service.delete(`/book/${a.id}`);
        const absent = 9_007_199_254_740_991;
        const faults = [
          [400, 'Invalid input', a.id],
          [400, 'Invalid input', 'x'],
          [404, 'Book not found', absent],
          [409, 'Book exists', b.id],
        ] as const;
        for (const [status, message, id] of faults) {
          const response = await restoreMany(service, [a.id, id]);
          expectNull(response, status, message);
          expectHeader(response, 'invalid-index', /^1$/);
        }
        for (const body of ['', '{}'])
          expectNull(await service.post('/books/restore', body), 400, 'Invalid input');
        expectNull(await service.get(`/book/${a.id}`), 404, 'Book not found');
      },
    'the token is checked before anything else': async (service) => {
      for (const path of ['/changes?limit=0', '/book/x/history', '/changes'])
        expectNull(await service.sendWithoutToken('GET', path), 401, 'Authorization token required');
      const { id } = await service.createBook();
      const restore = await service.sendWithoutToken('POST', `/book/${id}/restore`);
      expectNull(restore, 401, 'Authorization token required');
    },
  },
);

function restoreMany(service: Service, ids: readonly unknown[]): Promise<HttpResponse> {
  return service.post('/books/restore', JSON.stringify(ids));
}

const NEXT = /^<(\/changes\?[^>]*)>; rel="next"$/;

function nextOf({ headers }: HttpResponse): string | undefined {
  return NEXT.exec(headers.get('link') ?? '')?.[1];
}

/** The cursor of a change that is made now. */
async function newestCursor(service: Service): Promise<string> {
  const { id } = await service.createBook();
  const [change] = await historyOf(service, id);
  return change?.cursor ?? '';
}

async function historyOf(service: Service, id: number): Promise<readonly Change[]> {
  return expectChanges(await service.get(`/book/${id}/history`), 'History retrieved successfully');
}

/** The changes of a book after a cursor, in pages of two. @returns type and book of each */
async function changesAfter(service: Service, cursor: string, id: number) {
  const changes: Change[] = [];
  for (let after: string | undefined = cursor; after !== undefined; ) {
    const page = expectChanges(await service.get(`/changes?limit=2&after=${after}`));
    changes.push(...page.filter(({ book }) => book.id === id));
    after = page.at(-1)?.cursor;
  }
  return changes.map(describe);
}

function describe({ type, book }: Change) {
  return [type, book];
}

/** Passes when the response is a list of changes. */
function expectChanges(response: HttpResponse, message = 'Changes retrieved successfully'): Change[] {
  const data = expectOutcome(response, 200, message);
  const other = Array.isArray(data) ? data.find((change) => !isChange(change)) : data;
  if (other !== undefined) throw new Mismatch(response.request, 'changes', JSON.stringify(other));
  return data as Change[];
}

function isChange(value: unknown): boolean {
  const { cursor, type, at, book, gapAfter = true, ...others } = value as Record<string, unknown>;
  return (
    typeof cursor === 'string' &&
    ['created', 'updated', 'deleted'].includes(String(type)) &&
    /^[0-9-]{10}T[0-9:.]+Z$/.test(String(at)) &&
    typeof book === 'object' &&
    gapAfter === true &&
    Object.keys(others).length === 0
  );
}
