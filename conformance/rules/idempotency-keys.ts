import { randomUUID } from 'node:crypto';
import { type Book, expectCreated, expectNull, expectSame, expectStored } from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

const BOOK = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };

/** An addition to the contract: creates that can be repeated. */
export const idempotencyKeyRules = rulesOf(
  { section: 'Idempotency keys', group: 'decision', needs: 'idempotency keys' },
  {
    'POST /book: a repeat with the same key gets the book of the first time, also after it was changed':
      async (service) => {
        const key = randomUUID();
        const book = expectCreated(await create(service, key, BOOK), BOOK);
        const changed = { ...book, year: 1970 };
        await service.put(`/book/${book.id}`, { year: 1970 });
        const repeat = await create(service, key, BOOK);
        expectSame(repeat.request, expectCreated(repeat, BOOK), book);
        await expectStored(service, changed);
      },
    '422 Idempotency key reused when one field alone differs, and nothing is stored': async (service) => {
      const key = randomUUID();
      const book = expectCreated(await create(service, key, BOOK), BOOK);
      for (const difference of [{ title: 'Rocannon’s World' }, { author: 'Ursula Kroeber' }, { year: 1966 }])
        expectNull(await create(service, key, { ...BOOK, ...difference }), 422, 'Idempotency key reused');
      const next = await service.createBook();
      expectSame('the id of the next book', next.id > book.id, true);
      await expectStored(service, book);
    },
  },
);

function create(service: Service, key: string, book: Omit<Book, 'id'>) {
  return service.send('POST', '/book', {
    body: JSON.stringify(book),
    headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
  });
}
