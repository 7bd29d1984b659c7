import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { computed, type Signal, signal } from '@preact/signals';
import { type Book, type BookClient, createClient, RefusedError } from '../../client/index.ts';
import { BookList, type Change } from '../../console/src/state/book-list.ts';
import { CellEdits } from '../../console/src/state/cell-edits.ts';
import { Connection } from '../../console/src/state/connection.ts';
import { EditSession } from '../../console/src/state/edit-session.ts';
import { entityTag } from '../../console/src/state/entity-tag.ts';
import { Follower } from '../../console/src/state/follower.ts';
import { History } from '../../console/src/state/history.ts';
import { Operations } from '../../console/src/state/operations.ts';
import { groupChanges, PastChanges } from '../../console/src/state/past-changes.ts';
import { paste } from '../../console/src/state/paste.ts';
import { Selection } from '../../console/src/state/selection.ts';
import { queryOf, type View } from '../../console/src/state/view.ts';
import type { Field } from '../../formats/row.ts';
import { Relay } from '../../testkit/relay.ts';
import { PASSWORD, type Service, startService, USERNAME } from '../../testkit/service.ts';
import { CLASSICS, findBook, manyBooks, store } from './books.ts';

const VIEW: View = { q: '', from: undefined, to: undefined, sort: 'id', book: undefined };

const sessions: Signal<boolean>[] = [];
// A list whose service has stopped would ask again for ever, and the process would not end.
after(() => {
  for (const isSignedIn of sessions) isSignedIn.value = false;
});

/** Follows the changes of a service with a history. Disposing ends it, also after a failed test, whose process would not end. */
function follow(app: ConstructorParameters<typeof Follower>[0]): Disposable {
  const follower = new Follower(app, new URL('data:application/json,{"history":true}'));
  return { [Symbol.dispose]: () => follower.close() };
}

/** The state of the console without a page, for a new service with the classics. */
async function start(hasHistory: boolean, given?: { readonly service: Service; readonly url: string }) {
  const service = given?.service ?? (await startService({ hasHistory }));
  await store(service, CLASSICS);
  const url = given?.url ?? service.url;
  const client = createClient({ url, username: USERNAME, password: PASSWORD });
  const isSignedIn = signal(true);
  sessions.push(isSignedIn);
  const view = signal(VIEW);
  const query = computed(() => JSON.stringify(queryOf(view.value)));
  const address = { view, query, isSearch: signal(false) };
  const search = (q: string, sort: View['sort'] = 'id') => {
    view.value = { ...VIEW, q, sort };
  };
  const connection = new Connection(url);
  const list = new BookList({ client, onceClient: client, connection }, address, isSignedIn);
  await list.reload();
  const selection = new Selection(list, address, isSignedIn);
  const history = new History();
  history.isKept.value = hasHistory;
  const app = {
    service,
    client,
    onceClient: client,
    connection,
    list,
    address,
    search,
    selection,
    isSignedIn,
    history,
  };
  const operations = new Operations(app);
  return { ...app, operations, cells: new CellEdits({ client, list, operations }) };
}

type Console = Awaited<ReturnType<typeof start>>;

const bookAt = ({ list }: Console, row: number) => list.at(row) as Book;
const changed = (book: Book, fields: Partial<Book>): Change => ({
  before: book,
  after: { ...book, ...fields },
});
const yes = () => Promise.resolve(true);
/** Waits until a condition is met. */
async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 10));
}
const put = (service: Service, id: number, fields: object) =>
  service.fetch('PUT', `/book/${id}`, JSON.stringify(fields));

for (const hasHistory of [true, false]) {
  describe(`Operations of a service ${hasHistory ? 'with' : 'without'} a history`, () => {
    let console: Console;
    before(async () => {
      console = await start(hasHistory);
    });
    after(() => console.service[Symbol.asyncDispose]());

    test('are undone in reverse order, whatever they were, and done again', async () => {
      const { service, operations, list } = console;
      const [iliad, odyssey, meditations] = [0, 1, 2].map((row) => bookAt(console, row));
      assert.ok(iliad && odyssey && meditations);
      await operations.run('edited', [changed(iliad, { year: 1 }), changed(odyssey, { year: 2 })]);
      await operations.run('deleted', [{ before: meditations, after: undefined }]);
      const edit = new EditSession(console, 'new');
      await edit.save({ title: 'Emma II', author: '', year: '44 BC' });
      assert.deepEqual(
        operations.done.value.map(({ kind, changes }) => `${kind} ${changes.length}`),
        ['edited 2', 'deleted 1', 'added 1'],
      );
      assert.equal((await findBook(service, 44))?.year, -44);
      await operations.undo();
      assert.equal(await findBook(service, 44), undefined);
      await operations.undo();
      const again = operations.report.value?.done[0]?.after;
      assert.equal(again?.title, 'Meditations');
      assert.equal(again.id === 3, hasHistory);
      assert.equal(operations.report.value?.isRenumbered, !hasHistory);
      await operations.undo();
      assert.deepEqual([bookAt(console, 0).year, bookAt(console, 1).year], [-750, -725]);
      await operations.undo();
      await operations.redo();
      assert.deepEqual([bookAt(console, 0).year, bookAt(console, 1).year], [1, 2]);
      await operations.redo();
      assert.equal(await findBook(service, again.id), undefined);
      const [first] = operations.done.value;
      assert.ok(first);
      await operations.reverse(first);
      assert.equal((await findBook(service, 1))?.year, -750);
      await until(() => list.total.value === 42);
    });

    test('are done again in the order in which they were undone; another one leaves nothing to do again', async () => {
      const { service, operations } = console;
      const [candide, werther] = [bookAt(console, 4), bookAt(console, 5)].map((book) => ({ ...book }));
      assert.ok(candide && werther);
      const yearOf = async ({ id }: Book) => (await findBook(service, id))?.year;
      await operations.run('edited', [changed(candide, { year: 1 })]);
      await operations.undo();
      await operations.run('edited', [changed(werther, { year: 2 })]);
      await operations.undo();
      await operations.redo();
      assert.deepEqual([await yearOf(candide), await yearOf(werther)], [candide.year, 2]);
      await operations.redo();
      assert.equal(await yearOf(candide), candide.year);
      await operations.run('edited', [changed(candide, { year: 3 })]);
      const [first, second] = operations.done.value.slice(-2);
      assert.ok(first && second);
      await operations.reverse(first);
      await operations.reverse(second);
      await operations.redo();
      assert.deepEqual([await yearOf(candide), await yearOf(werther)], [3, werther.year]);
      await operations.undo();
    });

    test('follow a book to the number under which it is stored again', async () => {
      const { service, operations } = console;
      const crusoe = { ...bookAt(console, 2) };
      assert.equal(crusoe.title, 'Robinson Crusoe');
      await operations.run('edited', [changed(crusoe, { author: 'D. D.' })]);
      await operations.run('deleted', [{ before: bookAt(console, 2), after: undefined }]);
      await operations.undo();
      const id = operations.report.value?.done[0]?.after?.id ?? 0;
      assert.equal((await findBook(service, id))?.author, 'D. D.');
      await operations.undo();
      assert.equal((await findBook(service, id))?.author, 'Daniel Defoe');
    });
  });
}

describe('An operation', () => {
  let console: Console;
  before(async () => {
    console = await start(false);
  });
  after(() => console.service[Symbol.asyncDispose]());

  test('and its undo leave books as they are that another user has changed since', async () => {
    const { service, operations } = console;
    const [iliad, odyssey] = [bookAt(console, 0), bookAt(console, 1)];
    await put(service, 1, { title: 'Ilias', author: 'H.' });
    const changes = [changed(iliad, { author: 'N. N.' }), changed(odyssey, { author: 'N. N.' })];
    const { done, failures } = await operations.run('edited', changes);
    assert.deepEqual(
      [done.length, failures.map(({ book, reason }) => [book.id, reason])],
      [1, [[1, 'changed']]],
    );
    assert.equal(bookAt(console, 0).title, 'Ilias');
    await put(service, 2, { author: 'Somebody else' });
    await operations.undo();
    assert.equal(operations.report.value?.failures[0]?.reason, 'changed');
    assert.equal((await findBook(service, 2))?.author, 'Somebody else');
    assert.equal(operations.done.value.length, 1);
  });

  test('leaves no book without title and author, but changes those that were stored so', async () => {
    const { service, operations, client } = console;
    const nameless = await client.create({ year: 5 });
    const titleless = await client.create({ author: 'N. N.', year: 6 });
    const changes = [changed(nameless, { year: 7 }), changed(titleless, { author: ' ' })];
    const { done, failures } = await operations.run('edited', changes);
    assert.deepEqual([done.length, failures.map(({ reason }) => reason)], [1, ['nameless']]);
    assert.equal((await findBook(service, nameless.id))?.year, 7);
    const edit = new EditSession(console, titleless.id, titleless);
    edit.draft.value = { ...edit.draft.value, author: '' };
    assert.equal(edit.problem, 'nameless');
  });

  test('has new texts of up to 4,096 characters; a longer one that a book has may stay', () => {
    const stored = { ...bookAt(console, 5), author: 'x'.repeat(4_097) };
    const edit = new EditSession(console, stored.id, stored);
    const problemOf = (title: string) => {
      edit.draft.value = { ...edit.draft.value, title };
      return edit.problem;
    };
    assert.equal(problemOf('\u{1F4D6}'.repeat(4_096)), undefined);
    assert.equal(problemOf('x'.repeat(4_097)), 'long');
  });

  test('begins when those before it are done: an undo or a deletion also knows the cell that is being saved', async () => {
    const { service, operations, cells } = console;
    const [candide, werther] = [bookAt(console, 5), bookAt(console, 6)];
    await operations.run('edited', [changed(candide, { year: 1 })]);
    for (const author of ['J.', 'W.', 'G.']) {
      cells.edit(bookAt(console, 6), 'author', author);
      cells.save();
    }
    assert.equal(cells.shown(bookAt(console, 6)).author, 'G.');
    await operations.undo();
    assert.equal((await findBook(service, werther.id))?.author, 'W.');
    await Promise.all([operations.undo(), operations.undo()]);
    assert.deepEqual(await findBook(service, werther.id), werther);
    assert.equal((await findBook(service, candide.id))?.year, 1);
    cells.edit(werther, 'year', '2');
    cells.save();
    console.selection.set([werther], true);
    await operations.runSelected('deleted', () => undefined);
    assert.equal(await findBook(service, werther.id), undefined);
    assert.equal(operations.report.value?.operation.changes[0]?.before?.year, 2);
  });

  test('that an error ends keeps the rest, and is forgotten with the session', async () => {
    const { operations, selection, isSignedIn, client } = console;
    const broken = { ...client, updateMany: () => Promise.reject(new Error('defect')) };
    const failing = new Operations({ ...console, client: broken });
    const { done, left, error } = await failing.run('edited', [changed(bookAt(console, 3), { year: 1 })]);
    assert.deepEqual([done.length, left.length, (error as Error).message], [0, 1, 'defect']);
    isSignedIn.value = false;
    assert.deepEqual([operations.done.value, selection.count.value], [[], 0]);
  });
});

describe('Pasted cells', () => {
  let console: Console;
  before(async () => {
    console = await start(false);
  });
  after(() => console.service[Symbol.asyncDispose]());

  test('replace those from the focused one on, and rows after the end are new books, in one operation', async () => {
    const { service, operations } = console;
    assert.equal(await paste(console, 41, 'author', 'Anna\t1\nBerta\t', yes), undefined);
    assert.deepEqual(await findBook(service, 42), {
      id: 42,
      title: 'Mrs Dalloway',
      author: 'Anna',
      year: 1,
    });
    assert.equal((await findBook(service, 43))?.year, 0);
    assert.equal(await paste(console, 42, 'title', 'A\tB\t3\nC\tD\t4 BC\n', yes), undefined);
    assert.deepEqual(await findBook(service, 44), { id: 44, title: 'C', author: 'D', year: -4 });
    await operations.undo();
    await operations.undo();
    assert.equal(await findBook(service, 44), undefined);
    assert.equal((await findBook(service, 43))?.author, 'Virginia Woolf');
  });

  test('that replace texts of several books change them only if the user says so', async () => {
    const { service } = console;
    const asked: number[] = [];
    const answer = (isYes: boolean) => (books: number) => {
      asked.push(books);
      return Promise.resolve(isYes);
    };
    // The first has this author already, and the second loses nothing.
    await put(service, 2, { author: '' });
    await console.list.reload();
    await paste(console, 0, 'author', 'Homer\nHomer', answer(false));
    assert.deepEqual([asked, (await findBook(service, 2))?.author], [[], 'Homer']);
    await paste(console, 2, 'author', 'M.', answer(false));
    assert.deepEqual([asked, (await findBook(service, 3))?.author], [[], 'M.']);
    await paste(console, 0, 'author', 'Homer\nH.\nN.', answer(false));
    assert.deepEqual([asked, (await findBook(service, 3))?.author], [[2], 'M.']);
    await paste(console, 0, 'author', 'Homer\nH.\nN.', answer(true));
    assert.deepEqual([asked, (await findBook(service, 3))?.author], [[2, 2], 'N.']);
  });

  test('fill a range that is a multiple of them in both directions, and are pasted once into others', async () => {
    const { service, list, operations } = console;
    const fill = (last: number, fields: readonly Field[], text: string) =>
      paste(console, 0, fields[0] ?? 'title', text, yes, { first: 0, last, fields });
    const authors = () =>
      Promise.all([1, 2, 3, 4, 5].map(async (id) => (await findBook(service, id))?.author));
    await list.reload();
    const stored = await authors();
    await fill(3, ['author'], 'One\nTwo\n');
    assert.deepEqual(await authors(), ['One', 'Two', 'One', 'Two', stored[4]]);
    await operations.undo();
    await fill(2, ['author'], 'One\nTwo');
    assert.deepEqual(await authors(), ['One', 'Two', ...stored.slice(2)]);
    await operations.undo();
    await fill(1, ['author', 'year'], 'One\t7\n');
    assert.deepEqual(await authors(), ['One', 'One', ...stored.slice(2)]);
    assert.equal((await findBook(service, 2))?.year, 7);
    await operations.undo();
    assert.deepEqual(await authors(), stored);
    assert.deepEqual(await fill(1_000_000, ['year'], '7'), { kind: 'rows' });
  });

  test('replace those of rows that are not loaded between those that are, instead of adding books', async () => {
    const { service, client, list } = console;
    await client.createMany(manyBooks(400));
    await list.refresh();
    await list.findRow(440);
    const { value: rowCount } = list.rowCount;
    assert.deepEqual([list.at(200), list.at(rowCount - 1)?.title], [undefined, 'Volume 400']);
    const [book] = await list.readRows(200, 201);
    assert.ok(book);
    await paste(console, 200, 'author', 'Anna', yes);
    assert.equal((await findBook(service, book.id))?.author, 'Anna');
    await list.refresh();
    await until(() => list.total.value === rowCount);
  });

  test('change nothing if one is no year, or there are too many', async () => {
    const { service, operations } = console;
    const { value: all } = operations.done;
    assert.deepEqual(await paste(console, 0, 'year', '1\nx', yes), { kind: 'year', value: 'x' });
    assert.deepEqual(await paste(console, 0, 'year', '1\t2', yes), { kind: 'columns' });
    assert.deepEqual(await paste(console, 0, 'title', 'x\n'.repeat(10_001), yes), { kind: 'rows' });
    assert.equal(operations.done.value, all);
    assert.equal((await findBook(service, 1))?.year, -750);
  });
});

describe('The edit of a book', () => {
  let console: Console;
  before(async () => {
    console = await start(false);
  });
  after(() => console.service[Symbol.asyncDispose]());

  test('and that of another user in a different field are both saved, with the changed field alone', async () => {
    const { service, client } = console;
    const sent: unknown[] = [];
    const counted: BookClient = {
      ...client,
      updateMany(updates, options) {
        sent.push(...updates);
        return client.updateMany(updates, options);
      },
    };
    const operations = new Operations({ ...console, client: counted });
    const emma = bookAt(console, 9);
    const edit = new EditSession({ ...console, operations }, emma.id);
    await until(() => edit.state.value.kind === 'editing');
    await put(service, emma.id, { author: 'J. A.' });
    await edit.save({ ...edit.draft.value, title: 'Emma Woodhouse' });
    assert.equal(edit.state.value.kind, 'saved');
    const both = { ...emma, title: 'Emma Woodhouse', author: 'J. A.' };
    assert.deepEqual([await findBook(service, emma.id), bookAt(console, 9)], [both, both]);
    const [first, second] = [emma, { ...emma, author: 'J. A.' }].map(entityTag);
    const change = { id: emma.id, title: 'Emma Woodhouse' };
    assert.deepEqual(sent, [
      { ...change, ifMatch: first },
      { ...change, ifMatch: second },
    ]);
  });

  test('follows a change of another user that comes while the book is loaded', async () => {
    const { service, client } = console;
    const { id } = bookAt(console, 6);
    const { promise: isReceived, resolve: receive } = Promise.withResolvers<void>();
    let reads = 0;
    const slow: BookClient = {
      ...client,
      async find(...call) {
        const found = await client.find(...call);
        reads++;
        await isReceived;
        return found;
      },
    };
    const edit = new EditSession({ ...console, client: slow }, id);
    await until(() => reads === 1);
    await put(service, id, { year: 1775 });
    const followed = edit.follow();
    receive();
    await followed;
    assert.equal(edit.draft.value.year, '1775');
  });

  test('follows two changes of other users also if the second one comes while it reads the first', async () => {
    const { service, client } = console;
    const candide = bookAt(console, 5);
    const isRead = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    const slow: BookClient = {
      ...client,
      async find(...call) {
        const found = await client.find(...call);
        await isRead[reads++]?.promise;
        return found;
      },
    };
    const edit = new EditSession({ ...console, client: slow }, candide.id, candide);
    const following: Promise<void>[] = [];
    for (const [index, change] of [{ year: 1760 }, { title: 'CANDIDE' }].entries()) {
      await put(service, candide.id, change);
      following.push(edit.follow());
      await until(() => reads > index);
    }
    for (const { resolve } of isRead) resolve();
    await Promise.all(following);
    assert.deepEqual(edit.draft.value, { title: 'CANDIDE', author: 'Voltaire', year: '1760' });
  });

  test('that another user has deleted takes it out of the list, and can be saved as a new book', async () => {
    const { service, list } = console;
    const [iliad, odyssey] = [bookAt(console, 0), bookAt(console, 1)];
    const edit = new EditSession(console, iliad.id, iliad);
    for (const { id } of [iliad, odyssey]) await service.fetch('DELETE', `/book/${id}`);
    await edit.save({ ...edit.draft.value, title: 'Ilias' });
    assert.equal(edit.state.value.kind, 'missing');
    const opened = new EditSession(console, odyssey.id);
    await until(() => opened.state.value.kind === 'missing');
    assert.equal(bookAt(console, 0).title, 'Meditations');
    await until(() => list.total.value === 41);
    edit.becomeNew();
    await edit.save();
    assert.deepEqual(await findBook(service, 44), { ...iliad, id: 44, title: 'Ilias' });
  });
});

/** A client whose requests for books wait for {@link respond}; `undefined` lets one through to the service. */
function heldClient(client: BookClient) {
  const requests: { limit?: number | undefined; signal?: AbortSignal | undefined; at: number }[] = [];
  const responses: PromiseWithResolvers<RefusedError | undefined>[] = [];
  const held: BookClient = {
    ...client,
    list(query = {}, options = {}) {
      const list = client.list(query, options);
      async function* pages() {
        requests.push({ limit: query.limit, signal: options.signal, at: performance.now() });
        const response = Promise.withResolvers<RefusedError | undefined>();
        responses.push(response);
        const error = await response.promise;
        if (error) throw error;
        yield* list.pages();
      }
      return { ...list, pages };
    },
  };
  const respond = async (error?: RefusedError) => {
    await until(() => responses.length > 0);
    responses.shift()?.resolve(error);
  };
  return { held, requests, respond };
}

const NOT_PREPARED = new RefusedError({
  method: 'GET',
  path: '/books',
  status: 503,
  message: 'Service unavailable',
  retryAfterSeconds: 1,
  detail: 'The search is being prepared (34 %)',
  invalidIndex: undefined,
  requestId: undefined,
  mayHaveHappened: false,
});

test('After a 503 the list asks again after Retry-After, one request at a time, and aborts none that waits', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { held, requests, respond } = heldClient(console.client);
  const list = new BookList(
    { ...console, client: held, onceClient: held },
    console.address,
    console.isSignedIn,
  );
  // Before the list can know of the failure.
  const refusedAt = performance.now();
  await respond(NOT_PREPARED);
  await until(() => list.error.value === NOT_PREPARED);
  await until(() => requests.length === 2);
  const [, second] = requests;
  assert.ok(second);
  // A timer may be a millisecond early.
  assert.ok(second.at - refusedAt > 980, `${second.at - refusedAt} ms`);
  // The network is back, or the user says so, while the service waits for its index.
  list.retry();
  assert.deepEqual([requests.length, second.signal?.aborted], [2, false]);
  await respond();
  // The books are shown before they are counted, and also if they cannot be counted.
  await until(() => list.error.value === undefined && list.at(0)?.title === 'The Iliad');
  await respond(NOT_PREPARED);
  await respond();
  await until(() => list.counted.value === CLASSICS.length);
  assert.deepEqual(
    requests.map(({ limit }) => limit),
    [100, 100, 1, 1],
  );
  // The same books are read anew.
  void list.reload();
  await respond(NOT_PREPARED);
  await until(() => list.error.value === NOT_PREPARED);
  await respond();
  await until(() => list.error.value === undefined);
  await respond();
  console.isSignedIn.value = false;
});

test('While the service cannot count added books, their former number is not shown, and not all can be changed', async () => {
  const console = await start(false);
  await using _ = console.service;
  await console.client.createMany(manyBooks(250));
  const { held, respond } = heldClient(console.client);
  const list = new BookList(
    { ...console, client: held, onceClient: held },
    console.address,
    console.isSignedIn,
  );
  const selection = new Selection(list, console.address, console.isSignedIn);
  const count = CLASSICS.length + 250;
  for (let request = 0; request < 2; request++) await respond();
  await until(() => list.total.value === count && !list.isCounting.value);
  selection.all();
  assert.equal(selection.isCounted.value, true);
  await console.client.createMany(manyBooks(500));
  void list.refresh();
  await respond();
  await respond(NOT_PREPARED);
  await until(() => list.isUncounted.value);
  assert.deepEqual([list.total.value, list.rowCount.value], [undefined, count]);
  assert.equal(selection.isCounted.value, false);
  // The page itself waits for the index.
  await respond();
  await until(() => list.total.value === count + 500);
  void list.refresh();
  await respond(NOT_PREPARED);
  await until(() => list.isUncounted.value);
  assert.deepEqual([list.total.value, list.rowCount.value], [undefined, count + 500]);
  await respond();
  await until(() => !list.isLoading.value);
  const operations = new Operations({ ...console, list, selection });
  await operations.runSelected('deleted', () => undefined);
  assert.equal(operations.done.value.length, 0);
  await respond();
  await until(() => list.total.value === count + 500);
  assert.deepEqual([selection.isCounted.value, selection.count.value], [true, count + 500]);
});

test('A new search that fails is not asked again when another one has followed', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { held, requests, respond } = heldClient(console.client);
  const list = new BookList(
    { ...console, client: held, onceClient: held },
    console.address,
    console.isSignedIn,
  );
  await respond(NOT_PREPARED);
  await until(() => list.error.value === NOT_PREPARED);
  console.search('homer');
  for (let request = 0; request < 2; request++) await respond();
  await until(() => list.counted.value === 2);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(requests.length, 3);
});

test('While a new search is loaded, no row of the last one is selected; all are those that match the new one', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { held, respond } = heldClient(console.client);
  const list = new BookList(
    { ...console, client: held, onceClient: held },
    console.address,
    console.isSignedIn,
  );
  for (let request = 0; request < 2; request++) await respond();
  await until(() => list.counted.value === CLASSICS.length);
  const selection = new Selection(list, console.address, console.isSignedIn);
  const operations = new Operations({ ...console, list, selection });
  const emma = list.at(9);
  assert.ok(emma);
  selection.set([emma], true);
  assert.equal(selection.count.value, 1);
  console.search('the homer');
  selection.set([emma], true);
  await selection.setRange(3, 4);
  selection.all();
  assert.deepEqual([selection.count.value, selection.has(emma), list.at(9)], [0, false, emma]);
  await operations.runSelected('deleted', () => undefined);
  assert.equal(operations.done.value.length, 0);
  for (let request = 0; request < 2; request++) await respond();
  await until(() => list.counted.value === 2);
  assert.equal(selection.count.value, 2);
  assert.deepEqual(
    selection.loaded().map(({ title }) => title),
    ['The Iliad', 'The Odyssey'],
  );
  // Another order has the same books.
  console.search('the homer', '-id');
  assert.equal(selection.count.value, 2);
  for (let request = 0; request < 2; request++) await respond();
});

test('Of all selected books, one that another user deletes is subtracted once', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { list, history, selection, service } = console;
  const app = { ...console, isVisible: signal(true) };
  using opened = new DisposableStack();
  opened.use(follow(app));
  await until(() => history.isKept.value === true && list.total.value === CLASSICS.length);
  selection.all();
  const emma = list.at(9);
  assert.ok(emma);
  selection.set([emma], false);
  for (const [id, count] of [
    [1, CLASSICS.length - 2],
    [emma.id, CLASSICS.length - 2],
  ]) {
    await service.fetch('DELETE', `/book/${id}`);
    await until(() => list.loaded.rowOf(id ?? 0) === undefined);
    assert.equal(selection.count.value, count);
  }
  await until(() => list.total.value === CLASSICS.length - 2);
});

test('A cell that cannot be saved is kept for the dialog, once', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { cells, service } = console;
  cells.edit(bookAt(console, 0), 'year', 'x');
  assert.equal(cells.save(), false);
  cells.edit(bookAt(console, 1), 'author', 'H.');
  assert.equal(cells.failed.value[0]?.draft.value.year, 'x');
  assert.equal(cells.shown(bookAt(console, 1)).author, 'Homer');
  assert.equal(cells.save(), true);
  assert.equal(cells.shown(bookAt(console, 1)).author, 'H.');
  await until(async () => (await findBook(service, 2))?.author === 'H.');
  assert.equal(cells.take(1)?.id, 1);
  assert.equal(cells.take(1), undefined);
});

test('What is typed in an open cell before its editor is loaded replaces the stored text', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { cells } = console;
  cells.edit(bookAt(console, 9), 'year');
  for (const key of '1816') cells.edit(bookAt(console, 9), 'year', key);
  assert.equal(cells.open.value?.session.draft.value.year, '1816');
});

test('The cells of a new book are saved together, and marked as long as they are not', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { cells, service, list } = console;
  cells.edit(undefined, 'title', 'Orlando');
  cells.edit(undefined, 'author', 'Virginia Woolf');
  assert.deepEqual(cells.newBook, { id: 0, title: 'Orlando', author: 'Virginia Woolf', year: 0 });
  assert.equal(cells.save(), true);
  assert.deepEqual([cells.isSaving('new', 'author'), cells.newBook], [true, undefined]);
  await until(() => list.total.value === 44);
  assert.deepEqual(await findBook(service, 44), {
    id: 44,
    title: 'Orlando',
    author: 'Virginia Woolf',
    year: 0,
  });
  assert.deepEqual(cells.saving.value, []);
  // Nothing was typed.
  cells.edit(undefined, 'title');
  assert.deepEqual([cells.save(), cells.open.value], [true, undefined]);
});

test('A cell is emptied, but not the last text of a book', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { cells, service } = console;
  cells.edit(bookAt(console, 0), 'title', '');
  assert.equal(cells.save(), true);
  await until(async () => (await findBook(service, 1))?.title === '');
  cells.edit(bookAt(console, 0), 'author', '');
  assert.equal(cells.save(), false);
  assert.equal(cells.open.value?.session.problem, 'nameless');
});

test('Books whose author is set stay selected, as they are now', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { operations, selection, service } = console;
  selection.set(
    [0, 1].map((row) => bookAt(console, row)),
    true,
  );
  for (const author of ['H.', 'N. N.'])
    await operations.runSelected('edited', (book) => ({ ...book, author }));
  assert.deepEqual([selection.count.value, operations.report.value?.failures], [2, []]);
  assert.equal((await findBook(service, 2))?.author, 'N. N.');
});

test('An undo waits until it is known whether deleted books return under their numbers', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { service, operations, history } = console;
  history.isKept.value = undefined;
  const emma = bookAt(console, 9);
  await operations.run('deleted', [{ before: emma, after: undefined }]);
  const undone = operations.undo();
  setTimeout(() => (history.isKept.value = true), 50);
  await undone;
  assert.deepEqual(await findBook(service, emma.id), emma);
});

test('What is received of the changes of this session after later ones does not return', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { client, list, operations, history } = console;
  let isFollowing = false;
  let allowed = 0;
  const delayed: BookClient = {
    ...client,
    async *changes(options) {
      isFollowing = true;
      let received = 0;
      for await (const change of client.changes(options)) {
        await until(() => received < allowed);
        received++;
        yield change;
      }
    },
  };
  const app = { ...console, client: delayed, onceClient: delayed, isVisible: signal(true) };
  using opened = new DisposableStack();
  opened.use(follow(app));
  await until(() => isFollowing && !list.isLoading.value);
  const receiveNext = async () => {
    const { value: last } = history.received;
    allowed++;
    await until(() => history.received.value !== last && !list.isLoading.value);
  };
  const emma = bookAt(console, 9);
  await operations.run('edited', [changed(emma, { year: 1816 })]);
  await operations.undo();
  await receiveNext();
  assert.deepEqual(list.at(9), emma);
  await operations.run('deleted', [{ before: emma, after: undefined }]);
  await receiveNext();
  assert.equal(list.at(9)?.title, 'Frankenstein');
  await operations.undo();
  await receiveNext();
  assert.deepEqual(list.at(9), emma);
  await operations.run('deleted', [{ before: emma, after: undefined }]);
  for (let rest = 0; rest < 2; rest++) await receiveNext();
  assert.equal(list.at(9)?.title, 'Frankenstein');
  await until(() => list.total.value === CLASSICS.length - 1);
  allowed = Number.POSITIVE_INFINITY;
});

test('Books that return by an undo are not offered as new ones of others, which are', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { client, list, operations, history, service, selection } = console;
  const offered: number[] = [];
  const stop = history.newBooks.subscribe((count) => offered.push(count));
  const app = { ...console, isVisible: signal(true) };
  using opened = new DisposableStack();
  opened.use(follow(app));
  await until(() => history.isKept.value === true && !list.isLoading.value);
  // Rows at the end are not loaded. All changes of the test are fewer than those after which the list is read anew instead.
  await client.createMany(manyBooks(250));
  await list.refresh();
  selection.all();
  await operations.runSelected('deleted', () => undefined);
  await operations.undo();
  await until(() => list.total.value === CLASSICS.length + 250);
  await until(() => history.received.value.size > 0);
  // It counts at most every five seconds.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  assert.deepEqual([...new Set(offered)], [0]);
  await service.fetch('POST', '/book', JSON.stringify({ title: 'Other' }));
  await until(() => history.newBooks.value === 1);
  stop();
});

test('A book that another user adds between the list and its count is offered as a new one', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { address, isSignedIn, history } = console;
  console.search('', '-id');
  const { held, requests, respond } = heldClient(console.client);
  const list = new BookList({ ...console, client: held, onceClient: held }, address, isSignedIn);
  await respond();
  await respond();
  await until(() => list.counted.value === CLASSICS.length);
  using opened = new DisposableStack();
  // It reads the list again.
  opened.use(follow({ ...console, list, isVisible: signal(true) }));
  await respond();
  await until(() => requests.length === 4);
  await console.service.fetch('POST', '/book', JSON.stringify({ title: 'Orlando' }));
  let responses = 3;
  await until(async () => {
    if (requests.length > responses) {
      responses++;
      await respond();
    }
    return history.newBooks.value === 1;
  });
  assert.deepEqual([list.total.value, list.at(0)?.title], [CLASSICS.length, 'To the Lighthouse']);
});

test('Waiting until it is known whether the history is kept leaves no effect behind', async () => {
  let watched = 0;
  const isKept = signal<boolean | undefined>(undefined, {
    watched: () => watched++,
    unwatched: () => watched--,
  });
  const history = Object.assign(new History(), { isKept });
  const waiting = [history.known(), history.known()];
  assert.equal(watched, 1);
  isKept.value = true;
  assert.deepEqual(await Promise.all([...waiting, history.known()]), [true, true, true]);
  assert.equal(watched, 0);
});

const namesOf = (groups: ReturnType<typeof groupChanges>) =>
  groups.map((group) => group.map(({ type, book }) => `${type} ${book.id}`));

test('Changes of one type and of different books, at once or by one operation of this session, are one group', () => {
  const changes = (
    [
      ['deleted', 9, 6_000],
      ['deleted', 8, 6_000],
      ['updated', 8, 5_000],
      ['updated', 9, 4_999],
      ['updated', 8, 4_998],
      ['updated', 7, 4_000],
      ['updated', 6, 3_000],
    ] as const
  ).map(([type, id, ms]) => ({
    cursor: `${type} ${id} ${ms}`,
    type,
    at: new Date(ms).toISOString(),
    book: { id, title: '', author: '', year: 0 },
  }));
  assert.deepEqual(namesOf(groupChanges(changes)), [
    ['deleted 9', 'deleted 8'],
    ['updated 8', 'updated 9'],
    ['updated 8'],
    ['updated 7'],
    ['updated 6'],
  ]);
  const [first, second, third] = [{}, {}, {}];
  const own = new Map<number, readonly object[]>([
    [7, [third]],
    [6, [third]],
    [8, [first, second]],
  ]);
  assert.deepEqual(
    namesOf(groupChanges(changes, ({ type, book }) => (type === 'updated' && own.get(book.id)) || [])),
    [['deleted 9', 'deleted 8'], ['updated 8'], ['updated 9'], ['updated 8'], ['updated 7', 'updated 6']],
  );
});

test('A line of the history has what this session has done, or what another user has, also at the same moment', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { service, operations } = console;
  const set = (rows: readonly number[], author: string) =>
    operations.run(
      'edited',
      rows.map((row) => changed(bookAt(console, row), { author })),
    );
  await Promise.all([
    set([0, 1, 2], 'N. N.'),
    put(service, 10, { author: 'Another user' }),
    put(service, 11, { author: 'Another user' }),
    set([3, 4], 'N. N.'),
  ]);
  const past = new PastChanges(console);
  await past.load();
  const own = past.groups.value.filter((group) => past.isOwn(group) && group[0].type === 'updated');
  assert.deepEqual(
    own
      .map((group) => group.map(({ book }) => book.id).toSorted((a, b) => a - b))
      .toSorted(([a = 0], [b = 0]) => a - b),
    [
      [1, 2, 3],
      [4, 5],
    ],
  );
  const theirs = past.groups.value.filter((group) => !past.isOwn(group) && group[0].type === 'updated');
  assert.deepEqual(
    theirs.flat().map(({ book }) => book.author),
    ['Another user', 'Another user'],
  );
  for (const group of own) await past.undo(group);
  assert.deepEqual(await Promise.all([1, 4, 10].map(async (id) => (await findBook(service, id))?.author)), [
    'Homer',
    'Daniel Defoe',
    'Another user',
  ]);
});

test('What is typed while the service is away keeps its mark, and is stored once, in order, when it is back', async () => {
  const service = await startService();
  await using _ = service;
  await using relay = await Relay.open(service.port);
  const console = await start(false, { service, url: `http://localhost:${relay.port}` });
  const { cells, operations, connection, list } = console;
  relay.truncate = () => 0;
  cells.edit(bookAt(console, 0), 'year', '1');
  cells.save();
  for (const title of ['Orlando', 'Flush', 'Flush']) {
    cells.edit(undefined, 'title', title);
    cells.save();
  }
  await until(() => connection.obstacle.value === 'connection');
  assert.deepEqual([cells.isSaving(1, 'year'), cells.shown(bookAt(console, 0)).year], [true, 1]);
  assert.deepEqual(
    cells.added.map(({ title }) => title),
    ['Orlando', 'Flush', 'Flush'],
  );
  // What is no longer wanted is not stored.
  const discarded = new EditSession(console, 'new');
  const saved = discarded.save({ title: 'Discarded', author: '', year: '' });
  discarded.cancel();
  relay.truncate = undefined;
  connection.ask();
  await until(() => operations.pending.value === 0);
  await saved;
  assert.deepEqual([cells.saving.value, cells.failed.value, connection.obstacle.value], [[], [], undefined]);
  const titles = await Promise.all([44, 45, 46, 47].map(async (id) => (await findBook(service, id))?.title));
  assert.deepEqual(titles, ['Orlando', 'Flush', 'Flush', undefined]);
  assert.equal((await findBook(service, 1))?.year, 1);
  await until(() => list.total.value === 46);
});

test('A write that the service refuses for a time is repeated, unless it is stopped', async () => {
  const console = await start(false);
  await using _ = console.service;
  let refusals = 1;
  const client: BookClient = {
    ...console.client,
    updateMany(updates, options) {
      if (refusals-- > 0) return Promise.reject(NOT_PREPARED);
      return console.client.updateMany(updates, options);
    },
  };
  const operations = new Operations({ ...console, client });
  const done = operations.run('edited', [changed(bookAt(console, 0), { year: 1 })]);
  await until(() => console.connection.obstacle.value === 'service');
  assert.equal((await done).done.length, 1);
  refusals = Number.POSITIVE_INFINITY;
  const stopped = operations.run('edited', [changed(bookAt(console, 1), { year: 1 })]);
  await until(() => console.connection.obstacle.value === 'service');
  operations.stop();
  const { done: changes, left, error } = await stopped;
  assert.deepEqual([changes.length, left.length, error], [0, 1, undefined]);
});

test('The history undoes a change of many books where they are as it left them, and reads what it lacks', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { service } = console;
  const patch = (changes: object[]) => service.fetch('PATCH', '/books', JSON.stringify(changes));
  await patch([1, 2, 3].map((id) => ({ id, author: 'N. N.' })));
  // Later than the changes of one request are apart.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await put(service, 2, { author: 'Homeros' });
  await patch([4, 5].map((id) => ({ id, deleted: true })));
  const past = new PastChanges(console);
  await past.load();
  const names = () => past.groups.value.map((group) => `${group[0].type} ${group.length}`);
  assert.deepEqual(names().slice(0, 3), ['deleted 2', 'updated 1', 'updated 3']);
  const [deleted, , updated] = past.groups.value;
  assert.ok(deleted && updated);
  assert.equal((await past.undo(updated)).done.length, 2);
  assert.deepEqual(await Promise.all([1, 2, 3].map(async (id) => (await findBook(service, id))?.author)), [
    'Homer',
    'Homeros',
    'Marcus Aurelius',
  ]);
  await past.undo(deleted);
  assert.deepEqual((await findBook(service, 4))?.title, 'Robinson Crusoe');
  await past.refresh();
  assert.deepEqual(names().slice(0, 3), ['created 2', 'updated 2', 'deleted 2']);
  assert.deepEqual(
    [deleted, updated].map((group) => group.some((change) => past.canUndo(change))),
    [false, false],
  );
  const ofBook = new PastChanges(console, 1);
  await ofBook.load();
  const [, change] = ofBook.changes.value;
  assert.ok(change);
  assert.equal((await ofBook.before(change))?.author, 'Homer');
  await ofBook.restore(change);
  assert.equal((await findBook(service, 1))?.author, 'N. N.');
});

test('The history says of which books it is not known what they were', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { service, operations } = console;
  await put(service, 1, { year: 1 });
  const [last] = await Array.fromAsync(console.client.lastChanges());
  assert.ok(last);
  // The changes before are no longer kept.
  let others = 2_000;
  const client: BookClient = {
    ...console.client,
    async *lastChanges() {
      yield last;
      for (let id = others; id > 0; id--)
        yield {
          ...last,
          cursor: `${id}`,
          at: new Date(id * 10_000).toISOString(),
          book: { ...last.book, id: 99 },
        };
    },
    async *history() {},
  };
  const past = new PastChanges({ client, operations });
  await past.load();
  assert.deepEqual([past.state.value, past.canUndo(last)], ['more', true]);
  const { done, failures } = await past.undo([last]);
  assert.deepEqual([done, failures.map(({ book, reason }) => [book.id, reason])], [[], [[1, 'unknown']]]);
  assert.equal((await findBook(service, 1))?.year, 1);
  others = 0;
  await past.load();
  assert.deepEqual([past.state.value, past.canUndo(last)], ['complete', false]);
});

test('The history reads from the log what many books were, without a request for each', async () => {
  const console = await start(true);
  await using _ = console.service;
  const { service, operations } = console;
  const first = CLASSICS.length + 1;
  const setYear = (count: number, year: number) =>
    service.fetch(
      'PATCH',
      '/books',
      JSON.stringify(manyBooks(count).map((_book, index) => ({ id: first + index, year }))),
    );
  await store(service, manyBooks(1_200));
  await setYear(1_200, 1);
  for (let year = 1; year <= 40; year++) await put(service, 1, { year });
  await setYear(150, 2);
  let requests = 0;
  const client: BookClient = {
    ...console.client,
    history(id, options) {
      requests++;
      return console.client.history(id, options);
    },
  };
  const past = new PastChanges({ client, operations });
  await past.load();
  assert.equal(past.state.value, 'more');
  const [group] = past.groups.value;
  assert.ok(group);
  await past.undo(group);
  assert.deepEqual([requests, (await findBook(service, first))?.year], [0, 1]);
});

test('Operations are pending until they are done, whether of one book or of many', async () => {
  const console = await start(false);
  await using _ = console.service;
  const { operations } = console;
  const [iliad, odyssey] = [bookAt(console, 0), bookAt(console, 1)];
  const all = [
    operations.run('edited', [changed(iliad, { year: 1 })]),
    operations.save(changed(odyssey, { year: 2 })),
    operations.undo(),
  ];
  assert.equal(operations.pending.value, 3);
  await Promise.all(all);
  assert.equal(operations.pending.value, 0);
});
