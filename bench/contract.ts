import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { outcomes } from '../src/http/outcomes.ts';
import { BOOKS, makeBooks } from './books.ts';
import { sendRequest } from './services/send-request.ts';
import { PAGE, pagePath, searchPath } from './workloads.ts';

type Outcome = (typeof outcomes)[keyof typeof outcomes];

/** Asserts that a service with {@link BOOKS} books implements the contract, and pages; does not change the books. */
export async function assertContract(url: string): Promise<void> {
  const fields = { title: 'The Iliad', author: 'Homer', year: -750 };
  const book = await dataOf(url, `POST /book ${JSON.stringify(fields)}`, outcomes.bookCreated);
  const { id } = book as { id: number };
  assert.deepEqual(book, { id, ...fields });
  assert.deepEqual(await dataOf(url, `GET /book/${id}`, outcomes.bookRetrieved), book);
  const changed = await dataOf(url, `PUT /book/${id} {"year":-760}`, outcomes.bookUpdated);
  assert.deepEqual(changed, { id, ...fields, year: -760 });
  assert.equal(await dataOf(url, `DELETE /book/${id}`, outcomes.bookDeleted), null);
  await dataOf(url, `GET /book/${id}`, outcomes.bookNotFound);
  await dataOf(url, 'POST /book {"year":"1999"}', outcomes.invalidInput);
  await dataOf(url, 'POST /token {"username":"x","password":"x"}', outcomes.invalidCredentials);
  const books = makeBooks(BOOKS, 0).map((one, index) => ({ id: index + 1, ...one }));
  assert.deepEqual(await dataOf(url, 'GET /books', outcomes.booksRetrieved), books);
  const page = await dataOf(url, `GET ${pagePath(101)}`, outcomes.booksRetrieved);
  assert.deepEqual(page, books.slice(100, 100 + PAGE));
}

/** The same for searches: the first makes the service create its index. */
export async function assertSearches(url: string): Promise<void> {
  const books = makeBooks(BOOKS, 0).map((one, index) => ({ id: index + 1, ...one }));
  const matches = books.filter(({ title }) => title.includes('Golden Mirror')).slice(0, PAGE);
  const found = await dataOf(url, `GET ${searchPath('golden mirror')}`, outcomes.booksRetrieved);
  assert.deepEqual(found, matches);
}

/** Searches until the index has all books: the first search makes the service create it. */
export async function waitForIndex(url: string): Promise<void> {
  while ((await sendRequest(url, `GET ${searchPath('golden mirror')}`)).status !== 200) await sleep(100);
}

async function dataOf(url: string, line: string, { status, message }: Outcome): Promise<unknown> {
  const response = await sendRequest(url, line);
  const { data, ...envelope } = JSON.parse(response.text) as Record<'status' | 'message' | 'data', unknown>;
  assert.deepEqual([response.status, envelope], [status, { status, message }], line);
  return data;
}
