import { expectBook } from '../expect.ts';
import { rulesOf } from '../rule.ts';

const PIECES = ['{"title":"The Il', 'iad","author":"Ho', 'mer","year":-750}'];
const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };

/** JSON over HTTP: a body counts the same however HTTP carries it. */
export const transportRules = rulesOf(
  { section: 'What the service does', group: 'specification' },
  {
    'a body that arrives in pieces is read completely': async (service) => {
      const headers = { 'Content-Length': String(PIECES.join('').length) };
      const answer = await service.send('POST', '/book', { body: PIECES, headers });
      expectBook(answer, 201, 'Book created successfully', ILIAD);
    },
    'a chunked body is read completely': async (service) => {
      const answer = await service.send('POST', '/book', { body: PIECES });
      expectBook(answer, 201, 'Book created successfully', ILIAD);
    },
    'a character split between two pieces is kept': async (service) => {
      const bytes = Buffer.from('{"title":"Ἰλιάς"}');
      const tear = bytes.indexOf('λ') + 1;
      const body = [bytes.subarray(0, tear), bytes.subarray(tear)];
      const answer = await service.send('POST', '/book', { body });
      expectBook(answer, 201, 'Book created successfully', { title: 'Ἰλιάς' });
    },
    'a client that expects 100 Continue gets it, and then its response': async (service) => {
      const options = { body: PIECES.join(''), headers: { Expect: '100-continue' } };
      expectBook(await service.send('POST', '/book', options), 201, 'Book created successfully', ILIAD);
    },
  },
);
