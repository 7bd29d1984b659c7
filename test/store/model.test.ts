import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { ID_MAX, YEAR_MAX } from '../../src/book/book.ts';
import type { BookStore } from '../../src/book/book-store.ts';
import type { UpdateItem } from '../../src/book/book-update.ts';
import type { Book, BookFields } from '../../src/book/contract.ts';
import { entityTag } from '../../src/book/entity-tag.ts';
import { engines } from '../../testkit/engines.ts';
import { assertSameJson, createMany, listBooks, openStoreAt, updateMany } from '../../testkit/stores.ts';
import { SPECIAL_TEXTS } from './texts.ts';

/** An operation on a store. `nth` is the number of a book in the order of creation; it can exist, be deleted, or not exist. */
type Operation =
  | { readonly verb: 'create'; readonly fields: BookFields }
  | { readonly verb: 'create many'; readonly books: readonly BookFields[] }
  | { readonly verb: 'find' | 'delete'; readonly nth: number }
  | { readonly verb: 'update'; readonly nth: number; readonly changes: Partial<BookFields> }
  | { readonly verb: 'update many'; readonly updates: readonly ManyUpdate[] }
  | { readonly verb: 'list' };

/** `isMet` says whether it is conditional, and then whether the condition is met. */
interface ManyUpdate {
  readonly nth: number;
  readonly changes?: Partial<BookFields> | undefined;
  readonly isMet?: boolean | undefined;
}

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', '')),
  fc.constantFrom(...Object.values(SPECIAL_TEXTS).filter((any) => any.length < 1_000)),
);
const years = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-YEAR_MAX, -750, -1, 0, 1, YEAR_MAX));
const books = { title: texts, author: texts, year: years };
const turns = fc.nat(12);
const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('create'), fields: fc.record(books) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant('create many'),
      books: fc.array(fc.record(books), { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('find'), nth: turns }) },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant('update'),
      nth: turns,
      changes: fc.record(books, { requiredKeys: [] }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('delete'), nth: turns }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant('update many'),
      updates: fc.uniqueArray(
        fc.record(
          { nth: turns, changes: fc.record(books, { requiredKeys: [] }), isMet: fc.boolean() },
          { requiredKeys: ['nth'] },
        ),
        { maxLength: 4, selector: ({ nth }) => nth },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('list') }) },
);

const BOUNDS = { numRuns: 40 };
/** After this time, no further sequence is begun. */
const SEQUENCES_MS_MAX = 3_500;

for (const engine of engines) {
  describe(`A store on ${engine.name} that another process writes to, and a Map`, () => {
    test('return equal results for every sequence of calls', async () => {
      await using address = await engine.createAddress();
      await using _ = await startNeighbour(address.dbUrl);
      await using store = await openStoreAt(address.dbUrl);
      const assigned = new Set<number>();
      const endMs = performance.now() + SEQUENCES_MS_MAX;
      const property = fc.asyncProperty(fc.array(operations, { maxLength: 40 }), async (sequence) => {
        if (performance.now() > endMs && assigned.size > 0) return;
        const model = await Model.ofEmptied(store, assigned);
        for (const operation of sequence) await model.compare(operation);
        await model.compare({ verb: 'list' });
      });
      await fc.assert(property, BOUNDS);
    });

    test('have equal contents after groups of concurrent calls on different books', async () => {
      await using address = await engine.createAddress();
      await using _ = await startNeighbour(address.dbUrl);
      await using store = await openStoreAt(address.dbUrl);
      const assigned = new Set<number>();
      const groups = fc.uniqueArray(operations, {
        maxLength: 20,
        selector: (operation) => ('nth' in operation ? operation.nth : operation),
      });
      const endMs = performance.now() + SEQUENCES_MS_MAX;
      const property = fc.asyncProperty(fc.array(groups, { maxLength: 8 }), async (sequence) => {
        if (performance.now() > endMs && assigned.size > 0) return;
        const model = await Model.ofEmptied(store, assigned);
        for (const group of sequence) {
          // Updates of many books may concern those of the other calls.
          const calls = group.filter(({ verb }) => verb !== 'list' && verb !== 'update many');
          await Promise.all(calls.map((operation) => model.compare(operation)));
          await model.compare({ verb: 'list' });
        }
      });
      await fc.assert(property, BOUNDS);
    });
  });
}

/** The author of all books of the other process. */
const NEIGHBOUR = 'a neighbour';

/** Starts a process that writes to the same store; disposing ends it. */
async function startNeighbour(dbUrl: string): Promise<AsyncDisposable> {
  const neighbour = fork(join(import.meta.dirname, 'writing-process.ts'), [dbUrl, NEIGHBOUR]);
  const ended = once(neighbour, 'exit');
  await once(neighbour, 'message');
  return {
    async [Symbol.asyncDispose]() {
      neighbour.disconnect();
      const [exitCode] = (await ended) as [number | null];
      assert.equal(exitCode, 0);
    },
  };
}

async function listOwnBooks(store: BookStore): Promise<Book[]> {
  return (await listBooks(store)).filter(({ author }) => author !== NEIGHBOUR);
}

/** A store and the Map that it should equal, without the books of the neighbour. */
class Model {
  readonly #store: BookStore;
  /** Every id that the store has assigned, in this and earlier sequences. */
  readonly #assigned: Set<number>;
  readonly #ids: number[] = [];
  readonly #books = new Map<number, Book>();

  private constructor(store: BookStore, assigned: Set<number>) {
    this.#store = store;
    this.#assigned = assigned;
  }

  static async ofEmptied(store: BookStore, assigned: Set<number>): Promise<Model> {
    await Promise.all((await listOwnBooks(store)).map(({ id }) => store.delete(id)));
    return new Model(store, assigned);
  }

  /** Performs an operation on both, and asserts that the results are equal. */
  async compare(operation: Operation): Promise<void> {
    switch (operation.verb) {
      case 'create': {
        const book = await this.#store.create(operation.fields);
        this.#add(book);
        return assertSameJson(book, { id: book.id, ...inOrder(operation.fields) });
      }
      case 'create many': {
        const created = await createMany(this.#store, operation.books);
        for (const book of created) this.#add(book);
        const ids = created.map(({ id }) => id);
        assert.deepEqual(
          ids,
          ids.toSorted((a, b) => a - b),
        );
        return assertSameJson(
          created,
          operation.books.map((fields, index) => ({ id: ids[index], ...inOrder(fields) })),
        );
      }
      case 'update many':
        return this.#updateMany(operation.updates);
      case 'find': {
        const id = this.#idOf(operation.nth);
        return assertSameJson(await this.#store.find(id), this.#books.get(id));
      }
      case 'update': {
        const id = this.#idOf(operation.nth);
        const book = this.#books.get(id);
        const updated = book && { ...book, ...operation.changes };
        if (updated) this.#books.set(id, updated);
        return assertSameJson(await this.#store.update(id, operation.changes), updated);
      }
      case 'delete': {
        const id = this.#idOf(operation.nth);
        const wasThere = this.#books.delete(id);
        return assert.equal(await this.#store.delete(id), wasThere);
      }
      case 'list':
        return assertSameJson(
          await listOwnBooks(this.#store),
          [...this.#books.values()].toSorted((a, b) => a.id - b.id),
        );
    }
  }

  async #updateMany(updates: readonly ManyUpdate[]): Promise<void> {
    const given = updates.map(({ nth, changes, isMet }): UpdateItem => {
      const id = this.#idOf(nth);
      const book = this.#books.get(id) ?? { id, title: '', author: '', year: 0 };
      const tags =
        isMet === undefined ? undefined : entityTag(isMet ? book : { ...book, year: book.year ? 0 : 1 });
      return changes ? { id, ...changes, tags } : { id, isDeleted: true, tags };
    });
    const index = given.findIndex(({ id }, at) => !this.#books.has(id) || updates[at]?.isMet === false);
    const results = await updateMany(this.#store, given.slice(0, 2), given.slice(2));
    if (index !== -1) {
      const fault = this.#books.has(given[index]?.id ?? 0) ? 'other tag' : 'absent';
      return assertSameJson(results, { fault, index });
    }
    const expected = given.map(({ id }, at) => {
      const changes = updates[at]?.changes;
      const book = changes && { ...(this.#books.get(id) as Book), ...changes };
      if (book) this.#books.set(id, book);
      else this.#books.delete(id);
      return book ?? null;
    });
    return assertSameJson(results, expected);
  }

  #add(book: Book): void {
    assert.ok(!this.#assigned.has(book.id), `the id ${book.id} was assigned before`);
    this.#assigned.add(book.id);
    this.#ids.push(book.id);
    this.#books.set(book.id, book);
  }

  #idOf(nth: number): number {
    return this.#ids[nth] ?? ID_MAX - nth;
  }
}

function inOrder({ title, author, year }: BookFields): BookFields {
  return { title, author, year };
}
