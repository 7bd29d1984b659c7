import { createServer } from 'node:http';
import { envelope, type OutcomeName } from '../../src/http/outcomes.ts';
import { BOOKS, makeBooks } from '../books.ts';
import { TOKEN } from './credentials.ts';

/** The floor: a bare server that sends fixed responses, as long as those of the services, depending on method and path. */

const books = makeBooks(BOOKS, 0).map((book, index) => ({ id: index + 1, ...book }));
const book = fixed('bookRetrieved', books[BOOKS / 2]);
const list = fixed('booksRetrieved', books);
const token = fixed('tokenGenerated', { token: TOKEN });
const deleted = fixed('bookDeleted', null);

createServer(({ method, url }, response) => {
  const body = url === '/books' ? list : url === '/token' ? token : method === 'DELETE' ? deleted : book;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);

function fixed(outcome: OutcomeName, data: unknown): Buffer {
  return Buffer.from(JSON.stringify(envelope(outcome, data)));
}
