import assert from 'node:assert/strict';
import { outcomes } from '../src/http/outcomes.ts';
import { BOOKS } from './books.ts';
import { sendRequest } from './services/send-request.ts';

interface Envelope {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/** Asserts that a service with {@link BOOKS} books implements the contract; does not change the books. */
export async function assertContract(url: string): Promise<void> {
  const expectResponse = async (
    line: string,
    { status, message }: Omit<Envelope, 'data'>,
  ): Promise<unknown> => {
    const response = await sendRequest(url, line);
    const envelope = JSON.parse(response.text) as Envelope;
    assert.deepEqual([response.status, envelope.status, envelope.message], [status, status, message], line);
    return envelope.data;
  };
  const fields = { title: 'The Iliad', author: 'Homer', year: -750 };
  const book = await expectResponse(`POST /book ${JSON.stringify(fields)}`, outcomes.bookCreated);
  const { id } = book as { id: number };
  assert.deepEqual(book, { id, ...fields });
  assert.deepEqual(await expectResponse(`GET /book/${id}`, outcomes.bookRetrieved), book);
  const changed = await expectResponse(`PUT /book/${id} {"year":-760}`, outcomes.bookUpdated);
  assert.deepEqual(changed, { id, ...fields, year: -760 });
  assert.equal(await expectResponse(`DELETE /book/${id}`, outcomes.bookDeleted), null);
  await expectResponse(`GET /book/${id}`, outcomes.bookNotFound);
  await expectResponse('POST /book {"year":"1999"}', outcomes.invalidInput);
  await expectResponse('POST /token {"username":"x","password":"x"}', outcomes.invalidCredentials);
  const list = await expectResponse('GET /books', outcomes.booksRetrieved);
  assert.equal((list as unknown[]).length, BOOKS);
}
