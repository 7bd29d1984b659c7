import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  type Book,
  type BookClient,
  createClient,
  NoResponseError,
  RefusedError,
} from '../../client/index.ts';
import type { Change } from '../../console/src/state/book-list.ts';
import { BookWriter } from '../../console/src/state/book-writer.ts';
import { Connection } from '../../console/src/state/connection.ts';
import { entityTag } from '../../console/src/state/entity-tag.ts';
import type { Failure } from '../../console/src/state/selection.ts';
import { FIELD_NAMES } from '../../src/book/contract.ts';
import { entityTag as entityTagOfService } from '../../src/book/entity-tag.ts';
import { engines } from '../../testkit/engines.ts';
import { fieldValue, OLD } from '../../testkit/fields.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { findBook, manyBooks } from './books.ts';

const BOOKS = 200;
const HISTORY = { known: () => Promise.resolve(true) };

test('The console computes the entity tags of the service', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 });
  const whole = fc.maxSafeInteger();
  const books = fc.record({ id: fc.maxSafeNat(), title: text, author: text, year: whole });
  fc.assert(fc.property(books, (book) => assert.equal(entityTag(book), entityTagOfService(book))));
  // From one block of the hash to two, and a long text.
  for (const length of [49, 50, 51, 57, 58, 59, 1_000_000]) {
    const book = { id: 1, title: 'x'.repeat(length), author: '', year: 2 };
    assert.equal(entityTag(book), entityTagOfService(book));
  }
});

for (const engine of engines) {
  describe(`A writer of many books, on ${engine.name},`, () => {
    let service: Service;
    let client: BookClient;
    let books: readonly Book[];
    let sent: number[];
    before(async () => {
      service = await startService({ hasHistory: true, engine: engine.name });
      client = createClient({ url: service.url, username: USERNAME, password: PASSWORD });
    });
    after(() => service[Symbol.asyncDispose]());
    beforeEach(async () => {
      books = await client.createMany(manyBooks(BOOKS));
      sent = [];
    });

    /** A client that counts the books of its requests. */
    const counting = (): BookClient => ({
      ...client,
      updateMany(updates, options) {
        sent.push(updates.length);
        return client.updateMany(updates, options);
      },
      createMany(created, options) {
        sent.push(created.length);
        return client.createMany(created, options);
      },
    });
    const put = (id: number, fields: object) => service.fetch('PUT', `/book/${id}`, JSON.stringify(fields));
    const setAuthor = (author: string): Change[] =>
      books.map((book) => ({ before: book, after: { ...book, author } }));

    async function write(
      changes: readonly Change[],
      from: BookClient = counting(),
    ): Promise<{ done: Change[]; failures: Failure[] }> {
      const results = new Map<Change, Change | Failure>();
      await new BookWriter(from, HISTORY, new Connection(service.url)).write(changes, (change, result) =>
        results.set(change, result),
      );
      const all = changes.map((change) => results.get(change) as Change | Failure);
      return {
        done: all.filter((result): result is Change => !('reason' in result)),
        failures: all.filter((result): result is Failure => 'reason' in result),
      };
    }

    test('changes, deletes and adds them in one request each, and no other request', async () => {
      const cursor = await client.newestCursor();
      const { done } = await write(setAuthor('N. N.'));
      assert.equal(done.length, BOOKS);
      await write(done.map((change) => ({ before: change.after, after: undefined })));
      const { done: added } = await write(
        books.map((book) => ({ before: undefined, after: { ...book, id: 0 } })),
      );
      assert.deepEqual(sent, [BOOKS, BOOKS, BOOKS]);
      assert.equal(added.at(-1)?.after?.title, `Volume ${BOOKS}`);
      const types: string[] = [];
      for await (const change of client.changes({ after: cursor }))
        if (types.push(change.type) === 3 * BOOKS) break;
      assert.deepEqual(
        types,
        ['updated', 'deleted', 'created'].flatMap((type) => Array<string>(BOOKS).fill(type)),
      );
    });

    for (const name of FIELD_NAMES)
      test(`adds books with the field ${name}, and changes it alone`, async () => {
        const change = { [name]: fieldValue(name, 'new') };
        const { done: added } = await write([{ before: undefined, after: { id: 0, ...OLD, ...change } }]);
        const book = added[0]?.after as Book;
        assert.deepEqual(await findBook(service, book.id), { id: book.id, ...OLD, ...change });
        await write([{ before: book, after: { ...book, [name]: OLD[name] } }]);
        assert.deepEqual(await findBook(service, book.id), { id: book.id, ...OLD });
      });

    test('leaves out what another user has changed or deleted, merges other fields, and does the rest', async () => {
      const [first, second, third, fourth] = [0, 50, 51, BOOKS - 1].map((index) => books[index]?.id ?? 0) as [
        number,
        number,
        number,
        number,
      ];
      await put(first, { author: 'Somebody else' });
      await put(second, { year: 7 });
      await put(third, { author: 'N. N.', year: 8 });
      await client.delete(fourth);
      const { done, failures } = await write(setAuthor('N. N.'));
      assert.deepEqual(
        failures.map(({ book, reason, now }) => [book.id, reason, now?.author]),
        [
          [first, 'changed', 'Somebody else'],
          [fourth, 'missing', undefined],
        ],
      );
      assert.ok(sent.length < 12, sent.join());
      // The undo changes the author back, and only that.
      const undo = await write(done.map((change) => ({ before: change.after, after: change.before })));
      assert.deepEqual([undo.done.length, undo.failures.length], [BOOKS - 2, 0]);
      const [, ...others] = await Promise.all([first, second, third].map((id) => findBook(service, id)));
      const expected = [books[50], books[51]].map((book, index) => ({ ...book, year: 7 + index }));
      assert.deepEqual(others, expected);
    });

    test('deletes no book that another user has changed in any field', async () => {
      const id = books[5]?.id ?? 0;
      await put(id, { year: 7 });
      const { done, failures } = await write(books.map((book) => ({ before: book, after: undefined })));
      assert.deepEqual([done.length, failures.length, failures[0]?.now?.year], [BOOKS - 1, 1, 7]);
      assert.equal((await findBook(service, id))?.year, 7);
    });

    test('finishes when all of them have been changed by another user', async () => {
      await client.updateMany(books.map(({ id }) => ({ id, author: 'Somebody else' })));
      assert.equal((await write(setAuthor('N. N.'))).failures.length, BOOKS);
      assert.ok(sent.reduce((sum, length) => sum + length) < 4 * BOOKS, sent.join());
    });

    test('sends fewer books in a request if a proxy allows no more, and fails for one that is too long', async () => {
      const tooLong = new RefusedError({
        method: 'PATCH',
        path: 'books',
        status: 413,
        message: 'Payload too large',
        retryAfterSeconds: undefined,
        detail: undefined,
        invalidIndex: undefined,
        requestId: undefined,
        mayHaveHappened: false,
      });
      const limited: BookClient = {
        ...counting(),
        async updateMany(updates) {
          if (updates.length > 30 || updates.some(({ id }) => id === books[9]?.id)) throw tooLong;
          return client.updateMany(updates);
        },
      };
      const { done, failures } = await write(setAuthor('N. N.'), limited);
      assert.deepEqual([done.length, failures.map(({ reason }) => reason)], [BOOKS - 1, [tooLong]]);
    });

    test('sends at most 1 MB in a request', async () => {
      const texts = ['x', '漢', '"'].map((character) => character.repeat(4_096));
      const bytes: number[] = [];
      const measured: BookClient = {
        ...client,
        createMany(created, options) {
          bytes.push(Buffer.byteLength(JSON.stringify(created)));
          return client.createMany(created, options);
        },
      };
      const added = Array.from({ length: 100 }, () => texts)
        .flat()
        .map((title) => ({ id: 0, title, author: '', year: 1 }));
      const { done } = await write(
        added.map((book) => ({ before: undefined, after: book })),
        measured,
      );
      assert.deepEqual(
        done.map((change) => change.after?.title),
        added.map(({ title }) => title),
      );
      assert.ok(
        bytes.every((length) => length < 1_000_000),
        bytes.join(),
      );
      assert.ok(bytes.length < added.length, bytes.join());
    });

    test('repeats what got no response, and neither adds a book twice nor reports a change of its own as another user’s', async () => {
      let isLost = true;
      const lose = () => {
        const wasLost = isLost;
        isLost = false;
        if (wasLost) throw new NoResponseError('POST /books', 'network', true);
      };
      const unreliable: BookClient = {
        ...client,
        async createMany(created, options) {
          const stored = await client.createMany(created, options);
          lose();
          return stored;
        },
        async updateMany(updates, options) {
          const stored = await client.updateMany(updates, options);
          lose();
          return stored;
        },
      };
      const writer = new BookWriter(unreliable, HISTORY, new Connection(service.url));
      const { year = 0 } = books[0] ?? {};
      const changes: Change[] = [
        { before: undefined, after: { id: 0, title: 'Once', author: '', year: 1 } },
        { before: books[0], after: { ...(books[0] as Book), year: year + 1 } },
        { before: books[1], after: undefined },
      ];
      for (const expected of [changes.slice(0, 1), changes.slice(1)]) {
        const results: (Change | Failure)[] = [];
        isLost = true;
        await writer.write(expected, (_, result) => results.push(result));
        assert.equal(isLost, false);
        assert.deepEqual(
          results.map((result) => 'reason' in result),
          expected.map(() => false),
        );
      }
      const { books: once } = (await client.list({ title: 'Once', limit: 10 }).pages().next()).value ?? {
        books: [],
      };
      assert.equal(once.length, 1);
      assert.equal((await findBook(service, books[0]?.id ?? 0))?.year, year + 1);
    });
  });
}
