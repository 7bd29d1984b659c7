import { createServer } from 'node:http';
import { envelope, type OutcomeName } from '../../src/http/outcomes.ts';
import { BOOKS, makeBooks } from '../books.ts';
import { PAGE } from '../workloads.ts';

/** The floor: a bare server that sends fixed responses, as long as those of the services, depending on method and path. */

const books = makeBooks(BOOKS, 0).map((book, index) => ({ id: index + 1, ...book }));
const book = fixed('bookRetrieved', books[BOOKS / 2]);
const list = fixed('booksRetrieved', books);
const page = fixed('booksRetrieved', books.slice(0, PAGE));
const deleted = fixed('bookDeleted', null);

createServer(({ method, url }, response) => {
  const body =
    method === 'DELETE' ? deleted : url === '/books' ? list : url?.startsWith('/books?') ? page : book;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);

function fixed(outcome: OutcomeName, data: unknown): Buffer {
  return Buffer.from(JSON.stringify(envelope(outcome, data)));
}
