import { expectCreated } from '../expect.ts';
import { rulesOf } from '../rule.ts';

const PIECES = ['{"title":"The Il', 'iad","author":"Ho', 'mer","year":-750}'];
const ILIAD = { title: 'The Iliad', author: 'Homer', year: -750 };

/** A body is read in the same way, however HTTP transfers it. */
export const transportRules = rulesOf(
  { section: 'What the service does', group: 'specification' },
  {
    'a body that arrives in pieces is read completely': async (service) => {
      const headers = { 'Content-Length': String(PIECES.join('').length) };
      const response = await service.send('POST', '/book', { body: PIECES, headers });
      expectCreated(response, ILIAD);
    },
    'a chunked body is read completely': async (service) => {
      const response = await service.send('POST', '/book', { body: PIECES });
      expectCreated(response, ILIAD);
    },
    'a character split between two pieces is kept': async (service) => {
      const bytes = Buffer.from('{"title":"Ἰλιάς"}');
      const tear = bytes.indexOf('λ') + 1;
      const body = [bytes.subarray(0, tear), bytes.subarray(tear)];
      const response = await service.send('POST', '/book', { body });
      expectCreated(response, { title: 'Ἰλιάς' });
    },
    'a client that expects 100 Continue gets it, and then its response': async (service) => {
      const options = { body: PIECES.join(''), headers: { Expect: '100-continue' } };
      expectCreated(await service.send('POST', '/book', options), ILIAD);
    },
  },
);
