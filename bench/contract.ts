import assert from 'node:assert/strict';
import { outcomes } from '../src/http/outcomes.ts';
import { BOOKS } from './books.ts';
import { ask } from './services/ask.ts';

interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/**
 * Asserts that a service with {@link BOOKS} books does the work that it is measured by, and leaves the books as they
 * were.
 */
export async function expectContract(url: string): Promise<void> {
  const expectAnswer = async (
    line: string,
    { status, message }: Omit<Envelope, 'data'>,
  ): Promise<unknown> => {
    const reply = await ask(url, line);
    const envelope = JSON.parse(reply.text) as Envelope;
    assert.deepEqual([reply.status, envelope.status, envelope.message], [status, status, message], line);
    return envelope.data;
  };
  const fields = { title: 'The Iliad', author: 'Homer', year: -750 };
  const book = await expectAnswer(`POST /book ${JSON.stringify(fields)}`, outcomes.bookCreated);
  const { id } = book as { id: number };
  assert.deepEqual(book, { id, ...fields });
  assert.deepEqual(await expectAnswer(`GET /book/${id}`, outcomes.bookRetrieved), book);
  const changed = await expectAnswer(`PUT /book/${id} {"year":-760}`, outcomes.bookUpdated);
  assert.deepEqual(changed, { id, ...fields, year: -760 });
  assert.equal(await expectAnswer(`DELETE /book/${id}`, outcomes.bookDeleted), null);
  await expectAnswer(`GET /book/${id}`, outcomes.bookNotFound);
  await expectAnswer('POST /book {"year":"1999"}', outcomes.invalidInput);
  await expectAnswer('POST /token {"username":"x","password":"x"}', outcomes.invalidCredentials);
  const list = await expectAnswer('GET /books', outcomes.booksRetrieved);
  assert.equal((list as unknown[]).length, BOOKS);
}
