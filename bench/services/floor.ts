import { createServer } from 'node:http';
import { envelope, type OutcomeName } from '../../src/http/outcomes.ts';
import { BOOKS, makeBooks } from '../books.ts';
import { TOKEN } from './credentials.ts';

/**
 * The floor: what a request costs in this runtime when nothing is done for it. A bare server that looks at the path,
 * checks nothing and sends one fixed answer, of the size that the services answer with.
 */

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
