import { registerHooks } from 'node:module';
import { type BookStore, StoreUnavailable } from '../src/book/book-store.ts';
import type { Book } from '../src/book/contract.ts';
import type { StoreAddress } from '../src/store/address.ts';
import type { Engine, OpenStore } from '../src/store/engine.ts';
import { loadEngine as loadSoundEngine } from '../src/store/load-engine.ts';
import { NO_OBSERVER } from '../testkit/no-observer.ts';
import { PlainStore } from './plain-store.ts';

/** The faults that can be planted, by name. */
const FAULTS: Readonly<Record<string, (address: StoreAddress) => Promise<OpenStore>>> = {
  none: (address) => openSoundStore(address),
  'responses before the commit': async (address) => new PlainStore(pathOf(address), { commitAfterMs: 30 }),
  'commits without a sync': async (address) => new PlainStore(pathOf(address), { synchronous: 'normal' }),
  'ids without AUTOINCREMENT': async (address) => new PlainStore(pathOf(address), { isAutoincrement: false }),
  'an update that reads, merges and writes': async (address) =>
    withMergingUpdate(await openSoundStore(address)),
  'errors of the store': async (address) => withErrors(await openSoundStore(address)),
  'errors of the store, swallowed': async (address) =>
    withSwallowedErrors(withErrors(await openSoundStore(address))),
  'errors of the store, retried': async (address) => withRetries(withErrors(await openSoundStore(address))),
  'reads from a cache': async (address) => withCache(await openSoundStore(address)),
};

// `node --import faulty-store.ts bin/bookkeeping.mjs` runs the service on the store with the fault of the variable FAULT.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isForApp =
      context.parentURL?.endsWith('/src/app.ts') && resolved.url.endsWith('/src/store/load-engine.ts');
    return isForApp ? { ...resolved, url: import.meta.url } : resolved;
  },
});

/** Replaces `loadEngine` of src/store/load-engine.ts. */
export async function loadEngine(address: StoreAddress): Promise<Engine> {
  const open = FAULTS[process.env.FAULT ?? ''];
  if (!open) throw new Error(`unknown fault: ${process.env.FAULT}`);
  return { ...(await loadSoundEngine(address)), openStore: () => open(address) };
}

async function openSoundStore(address: StoreAddress): Promise<OpenStore> {
  return (await loadSoundEngine(address)).openStore(NO_OBSERVER);
}

function withMergingUpdate(store: OpenStore): OpenStore {
  return override(store, {
    async update(id, changes) {
      const book = await store.find(id);
      return book && store.update(id, { ...book, ...changes });
    },
  });
}

/** One in this many writes fails: alternately before and after it takes effect. */
const WRITES_PER_ERROR = 20;

function withErrors(store: OpenStore): OpenStore {
  let writes = 0;
  async function failing<Result>(write: () => Promise<Result>): Promise<Result> {
    const turn = ++writes % (2 * WRITES_PER_ERROR);
    if (turn === 0) throw new StoreUnavailable('planted');
    const result = await write();
    if (turn === WRITES_PER_ERROR) throw new StoreUnavailable('planted');
    return result;
  }
  return override(store, {
    create: (fields) => failing(() => store.create(fields)),
    update: (id, changes) => failing(() => store.update(id, changes)),
    delete: (id) => failing(() => store.delete(id)),
  });
}

function withSwallowedErrors(store: OpenStore): OpenStore {
  return override(store, { delete: (id) => store.delete(id).catch(() => true) });
}

function withRetries(store: OpenStore): OpenStore {
  return override(store, { create: (fields) => store.create(fields).catch(() => store.create(fields)) });
}

function withCache(store: OpenStore): OpenStore {
  const cache = new Map<number, Book>();
  return override(store, {
    async find(id) {
      const book = cache.get(id) ?? (await store.find(id));
      if (book) cache.set(id, book);
      return book;
    },
  });
}

/** A store with some methods replaced. */
function override(store: OpenStore, methods: Partial<BookStore>): OpenStore {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

function pathOf(address: StoreAddress): string {
  if (address.engine !== 'sqlite') throw new Error('this fault is planted in SQLite only');
  return address.path;
}
