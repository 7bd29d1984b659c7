import { gzipSync } from 'node:zlib';
import type { Piece } from '../client.ts';
import {
  expectBooks,
  expectCreated,
  expectNull,
  expectOutcome,
  expectSame,
  expectStored,
  expectUpdated,
} from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

const YEAR_MAX = Number.MAX_SAFE_INTEGER;

/** Decisions on reading a body as a Book or as a LoginRequest. */
export const bodyRules = rulesOf(
  { section: 'Reading a body', group: 'decision' },
  {
    '400 when text follows the JSON value': (service) =>
      expectUnreadable(service, ['{"title":"a"} x', '{"title":"a"}{}', '{},', '{}\n]', '{}\0']),
    '400 when the JSON is malformed': (service) =>
      expectUnreadable(service, [
        "{'title':'a'}",
        '{"title":"a",}',
        '{title:"a"}',
        '{"year":01}',
        '{"year":+1}',
        '{"year":1.}',
        '{"year":0x7cf}',
        '{"year":NaN}',
        '{"title":"line\nbreak"}',
        '{"title":"\\x41"}',
        '{/**/}',
      ]),
    '400 when a byte-order mark precedes the JSON value': (service) =>
      expectUnreadable(service, ['\ufeff{}', Buffer.from('\ufeff{}', 'utf16le')]),
    '400 when the bytes are not UTF-8': (service) =>
      expectUnreadable(service, [
        ...['ff', 'c080', 'eda080', 'f4908080', 'e28c'].map((hex) =>
          Buffer.concat([Buffer.from('{"title":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
        ),
        Buffer.from('{}', 'utf16le'),
      ]),
    '400 when the body is null': (service) => expectUnreadable(service, ['null']),
    '400 when a known field is null': async (service) => {
      await expectUnreadableBook(service, ['{"title":null}', '{"author":null}', '{"year":null}']);
      await expectUnreadableLogin(service, [
        '{"username":null,"password":"x"}',
        '{"username":"x","password":null}',
      ]);
    },
    '400 when year is not an integer within ±9007199254740991': (service) =>
      expectUnreadableBook(
        service,
        [
          '9007199254740992',
          '-9007199254740992',
          '1e16',
          '1e400',
          '-1e400',
          '1e-1',
          '1.00000000000000000001',
        ].map((year) => `{"year":${year}}`),
      ),
    'year may be as large as ±9007199254740991': async (service) => {
      for (const year of [YEAR_MAX, -YEAR_MAX]) {
        const { id } = await service.createBook({ year });
        await expectStored(service, { id, year });
        expectUpdated(await service.put(`/book/${id}`, { year: -year }), {
          year: -year,
        });
        expectSame('GET /books', (await listed(service, id))?.year, -year);
      }
    },
    'an integer may be written with fraction and exponent: 1999.0, 1.999e3': async (service) => {
      const { id } = await service.createBook();
      for (const [literal, year] of [
        ['1999.0', 1999],
        ['1.999e3', 1999],
        ['19990E-1', 1999],
        ['-7.5e+2', -750],
        ['0e5', 0],
        ['-0', 0],
      ] as const) {
        const body = `{"year":${literal}}`;
        expectCreated(await service.post('/book', body), { year });
        expectUpdated(await service.put(`/book/${id}`, body), { year });
      }
    },
    '400 when a string holds U+0000 or a lone surrogate': (service) =>
      expectUnreadableBook(
        service,
        ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00', '\\udc00\\ud800', '\\ud83d.\\udcd6'].flatMap(
          (text) => [`{"title":"${text}"}`, `{"author":"${text}"}`],
        ),
      ),
    '400 when title or author has more than 4,096 characters, and 4,096 are stored': async (service) => {
      const longest = '📖'.repeat(4_096);
      const long = ['x'.repeat(4_097), `${longest}x`];
      await expectUnreadableBook(
        service,
        long.flatMap((text) => [`{"title":"${text}"}`, `{"author":"${text}"}`]),
      );
      const { id } = await service.createBook();
      const book = { title: longest, author: 'x'.repeat(4_096), year: 1 };
      expectUpdated(await service.put(`/book/${id}`, book), { ...book, id });
    },
    '400 when arrays and objects are nested deeper than 64, and 64 are accepted; brackets in strings do not count':
      async (service) => {
        const { username, password } = service;
        const login = JSON.stringify({ username, password }).slice(0, -1);
        const accepted = [nested('[', 63, ']'), nested('{"a":', 63, '}'), `"${nested('[', 99, '{')}\\"["`];
        for (const value of accepted) {
          const body = `{"unknown":${value},"title":"a","year":1}`;
          const { id } = expectCreated(await service.post('/book', body), NEW);
          expectUpdated(await service.put(`/book/${id}`, body), { ...NEW, id });
          await expectLogin(service, `${login},"unknown":${value}}`);
        }
        const deep = [64, 65, 5_000].flatMap((depth) => [
          nested('[', depth, ']'),
          nested('{"a":', depth, '}'),
        ]);
        await expectUnreadableBook(
          service,
          deep.map((value) => `{"title":"a","unknown":${value}}`),
        );
        await expectUnreadableLogin(service, [
          ...deep.slice(0, 4).map((value) => `${login},"unknown":${value}}`),
          '['.repeat(16_000),
        ]);
      },
    'an unknown field is ignored, whatever its value, and never returned': async (service) => {
      const { id } = await service.createBook();
      for (const unknown of UNKNOWN_FIELDS) {
        const body = `{"title":"a",${unknown},"year":1}`;
        const book = expectCreated(await service.post('/book', body), NEW);
        expectUpdated(await service.put(`/book/${id}`, body), {
          id,
          title: 'a',
        });
        await expectStored(service, { ...NEW, id: book.id });
      }
      const { username, password } = service;
      await expectLogin(service, JSON.stringify({ username, password, remember: null }));
    },
    'field names are case-insensitive': async (service) => {
      const fields = { title: 'a', author: 'b', year: 1 };
      for (const body of ['{"Title":"a","Author":"b","Year":1}', '{"TITLE":"a","aUTHOR":"b","yeaR":1}']) {
        expectCreated(await service.post('/book', body), fields);
        const { id } = await service.createBook();
        expectUpdated(await service.put(`/book/${id}`, body), {
          id,
          ...fields,
        });
      }
      await expectUnreadableBook(service, ['{"Title":1}', '{"YEAR":"1999"}', '{"Author":null}']);
      await expectLogin(service, JSON.stringify({ Username: service.username, PASSWORD: service.password }));
      await expectUnreadableLogin(service, ['{"Username":1}']);
    },
    'of duplicate fields the last one counts, also when their case differs': async (service) => {
      for (const [body, title] of [
        ['{"title":"a","title":"b"}', 'b'],
        ['{"Title":"a","title":"b"}', 'b'],
        ['{"title":"b","Title":"a"}', 'a'],
        ['{"title":"a","Title":"b","title":"c"}', 'c'],
        ['{"title":"a","\\u0074itle":"b","other":{"title":"c"}}', 'b'],
        ['{"title":1,"title":"a"}', 'a'],
      ] as const) {
        expectCreated(await service.post('/book', body), { title });
        const { id } = await service.createBook();
        expectUpdated(await service.put(`/book/${id}`, body), { id, title });
      }
      await expectUnreadableBook(service, ['{"title":"a","title":1}', '{"title":"a","Title":null}']);
      const valid = JSON.stringify({ username: service.username, password: service.password }).slice(1);
      await expectLogin(service, `{"password":"","Username":"",${valid}`);
    },
    'a field absent in POST /book is "" or 0: {} is 201': async (service) => {
      const empty = { title: '', author: '', year: 0 };
      for (const fields of [{}, { title: 'a' }, { author: 'a' }, { year: 1 }]) {
        const response = await service.post('/book', fields);
        expectCreated(response, { ...empty, ...fields });
      }
    },
    '{} in PUT is 200 and changes nothing': async (service) => {
      const book = await service.createBook();
      expectUpdated(await service.put(`/book/${book.id}`, '{}'), book);
      await expectStored(service, book);
    },
    'a field absent in POST /token is "": 401 Invalid credentials': async (service) => {
      expectNull(await service.login('{}'), 401, 'Invalid credentials');
      expectNull(await service.login({ username: service.username }), 401, 'Invalid credentials');
    },
    'the body is read as JSON, whatever the Content-Type': async (service) => {
      const login = JSON.stringify({ username: service.username, password: service.password });
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=latin1',
        'x',
      ]) {
        const options = { body: '{"title":"é"}', headers: { 'Content-Type': type } };
        const created = await service.send('POST', '/book', options);
        const { id } = expectCreated(created, { title: 'é' });
        expectUpdated(await service.send('PUT', `/book/${id}`, options), {
          title: 'é',
        });
        const response = await service.sendWithoutToken('POST', '/token', { ...options, body: login });
        expectOutcome(response, 200, 'Token generated successfully');
      }
      const lines = ['Authorization: {token}', 'Content-Length: 13'];
      const response = await service.exchangeRequest('POST /book', lines, ['{"title":"a"}']);
      expectCreated(response, { title: 'a' });
    },
    '400 when Content-Encoding is other than identity, compressed or not': async (service) => {
      const { id } = await service.createBook();
      for (const [encoding, body] of [
        ['gzip', gzipSync('{"title":"a"}')],
        ['gzip', '{"title":"a"}'],
        ['br', '{"title":"a"}'],
        ['x', '{"title":"a"}'],
      ] as const) {
        const options = { body, headers: { 'Content-Encoding': encoding } };
        expectNull(await service.send('POST', '/book', options), 400, 'Invalid input');
        expectNull(await service.send('PUT', `/book/${id}`, options), 400, 'Invalid input');
        const login = await service.sendWithoutToken('POST', '/token', options);
        expectNull(login, 400, 'Invalid request payload');
      }
    },
    'Content-Encoding: identity is accepted': async (service) => {
      const options = { body: '{"title":"a"}', headers: { 'Content-Encoding': 'identity' } };
      expectCreated(await service.send('POST', '/book', options), {
        title: 'a',
      });
    },
    'a 400 never changes the store': async (service) => {
      const book = await service.createBook();
      const title = `never stored, beside ${book.id}`;
      const body = { title, year: 'MCMXCIX' };
      expectNull(await service.put(`/book/${book.id}`, body), 400, 'Invalid input');
      await expectStored(service, book);
      expectNull(await service.post('/book', body), 400, 'Invalid input');
      const stored = expectBooks(await service.get('/books')).filter((other) => other.title === title);
      expectSame('books stored by a bad body', stored, []);
    },
  },
);

const NEW = { title: 'a', author: '', year: 1 };

const UNKNOWN_FIELDS = [
  '"id":"x"',
  '"id":null',
  '"ID":-1',
  '"__proto__":{"author":"x"}',
  '"constructor":{"prototype":{}}',
  '"toString":1',
  '"name ":1e999',
  '"titles":["\\u0000"]',
];

function nested(opening: string, depth: number, closing: string): string {
  return `${opening.repeat(depth)}${opening === '[' ? '' : '1'}${closing.repeat(depth)}`;
}

/** Passes when every endpoint rejects these bodies. */
async function expectUnreadable(service: Service, bodies: readonly Piece[]): Promise<void> {
  await expectUnreadableBook(service, bodies);
  await expectUnreadableLogin(service, bodies);
}

async function expectUnreadableBook(service: Service, bodies: readonly Piece[]): Promise<void> {
  const { id } = await service.createBook();
  for (const body of bodies) {
    expectNull(await service.post('/book', body), 400, 'Invalid input');
    expectNull(await service.put(`/book/${id}`, body), 400, 'Invalid input');
  }
}

async function expectUnreadableLogin(service: Service, bodies: readonly Piece[]): Promise<void> {
  for (const body of bodies) expectNull(await service.login(body), 400, 'Invalid request payload');
}

async function expectLogin(service: Service, body: string): Promise<void> {
  expectOutcome(await service.login(body), 200, 'Token generated successfully');
}

async function listed(service: Service, id: number) {
  return expectBooks(await service.get('/books')).find((book) => book.id === id);
}
