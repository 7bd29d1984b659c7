import {
  type Book,
  expectBooks,
  expectCreated,
  expectNull,
  expectRetrieved,
  expectSame,
  expectStored,
  expectUpdated,
} from '../expect.ts';
import { rulesOf } from '../rule.ts';
import type { Service } from '../service.ts';

/** Bodies that are no Book. */
const UNREADABLE = [
  '',
  'title=The+Iliad',
  '{"title":"The Iliad"',
  '[]',
  '"The Iliad"',
  '1',
  '{"title":1}',
  '{"author":["Homer"]}',
  '{"author":false}',
  '{"year":"1999"}',
  '{"year":19.5}',
  '{"year":{}}',
];

/** The specification of the five operations on books. */
export const bookEndpointRules = [
  ...rulesOf(
    { section: 'POST /book', group: 'specification' },
    {
      '400 Invalid input when the body cannot be read as a Book': async (service) => {
        for (const body of UNREADABLE) expectNull(await service.post('/book', body), 400, 'Invalid input');
      },
      '201 Book created successfully otherwise; data is the stored Book': async (service) => {
        const fields = { title: 'The Iliad', author: 'Homer', year: -750 };
        const book = expectCreated(await service.post('/book', fields), fields);
        await expectStored(service, book);
      },
      'every book gets a distinct id': async (service) => {
        const [first, second] = [await service.createBook(), await service.createBook()];
        expectSame('two ids', first.id === second.id, false);
      },
      'text is stored unchanged': async (service) => {
        for (const title of TEXTS) {
          const { id } = await service.createBook({ title, author: title });
          await expectStored(service, { id, title, author: title });
        }
      },
      'escapes in JSON are decoded': async (service) => {
        const body = '{"\\u0074itle":"\\u0041\\n\\ud83d\\udcd6","author":"\\/","year":1}';
        const fields = { title: 'A\n📖', author: '/', year: 1 };
        expectCreated(await service.post('/book', body), fields);
      },
    },
  ),
  ...rulesOf(
    { section: 'GET /books', group: 'specification' },
    {
      '200 Books retrieved successfully; data has every stored book': async (service) => {
        const books = [
          await service.createBook({ title: 'one' }),
          await service.createBook({ title: 'two' }),
        ];
        const listed = new Map(expectBooks(await service.get('/books')).map((book) => [book.id, book]));
        for (const book of books) expectSame('GET /books', listed.get(book.id), book);
      },
      'shows updates, and no deleted books': async (service) => {
        const { id } = await service.createBook();
        const deleted = await service.absentId();
        await service.put(`/book/${id}`, { title: 'changed' });
        const listed = new Map(expectBooks(await service.get('/books')).map((book) => [book.id, book]));
        expectSame('GET /books: title after PUT', listed.get(id)?.title, 'changed');
        expectSame('GET /books: has the deleted book', listed.has(deleted), false);
      },
    },
  ),
  ...rulesOf(
    { section: 'GET /book/{id}', group: 'specification' },
    {
      '404 Book not found when there is no such book': async (service) => {
        expectNull(await service.get(`/book/${await service.absentId()}`), 404, 'Book not found');
      },
      '200 Book retrieved successfully otherwise; data is the Book': async (service) => {
        const book = await service.createBook();
        await expectStored(service, book);
      },
    },
  ),
  ...rulesOf(
    { section: 'PUT /book/{id}', group: 'specification' },
    {
      '404 Book not found, also when the body is invalid': async (service) => {
        const id = await service.absentId();
        for (const body of ['{"title":"The Iliad"}', ...UNREADABLE]) {
          expectNull(await service.put(`/book/${id}`, body), 404, 'Book not found');
        }
      },
      '400 Invalid input when the body cannot be read as a Book': async (service) => {
        const { id } = await service.createBook();
        for (const body of UNREADABLE)
          expectNull(await service.put(`/book/${id}`, body), 400, 'Invalid input');
      },
      '200 Book updated successfully otherwise; data is the updated Book': async (service) => {
        const { id } = await service.createBook();
        const book = { id, title: 'The Iliad', author: 'Ὅμηρος', year: -750 };
        const { id: _, ...fields } = book;
        expectUpdated(await service.put(`/book/${id}`, fields), book);
        await expectStored(service, book);
      },
      'a field absent from the body keeps its stored value': (service) =>
        expectUpdates(service, [{ title: 'new title' }, { author: 'new author' }, { year: 2001 }]),
      'a field that is present is stored, also when it is "" or 0': (service) =>
        expectUpdates(service, [{ title: '' }, { author: '' }, { year: 0 }]),
      'changes no other book': async (service) => {
        const [changed, other] = [await service.createBook(), await service.createBook()];
        await service.put(`/book/${changed.id}`, { title: 'changed' });
        await expectStored(service, other);
      },
      'concurrent updates of different fields are all kept': async (service) => {
        const { id } = await service.createBook();
        for (let year = 1; year <= CONCURRENT_ROUNDS; year++) {
          const fields = { title: `title ${year}`, author: `author ${year}`, year };
          const changes = Object.entries(fields).map(([name, value]) => ({ [name]: value }));
          const responses = await Promise.all(changes.map((change) => service.put(`/book/${id}`, change)));
          for (const response of responses) expectUpdated(response, { id });
          await expectStored(service, { id, ...fields });
        }
      },
    },
  ),
  ...rulesOf(
    { section: 'DELETE /book/{id}', group: 'specification' },
    {
      '200 Book deleted successfully, data null; reading the same id gives 404': async (service) => {
        const { id } = await service.createBook();
        expectNull(await service.delete(`/book/${id}`), 200, 'Book deleted successfully');
        expectNull(await service.get(`/book/${id}`), 404, 'Book not found');
      },
      'needs no body, whatever Content-Type announces': async (service) => {
        const { id } = await service.createBook();
        const headers = { 'Content-Type': 'application/json' };
        expectRetrieved(await service.send('GET', `/book/${id}`, { headers }));
        const response = await service.send('DELETE', `/book/${id}`, { headers });
        expectNull(response, 200, 'Book deleted successfully');
      },
      'deletes no other book': async (service) => {
        const [deleted, other] = [await service.createBook(), await service.createBook()];
        await service.delete(`/book/${deleted.id}`);
        await expectStored(service, other);
      },
    },
  ),
];

/** Passes when each change of a book applies to its fields, and to no others. */
async function expectUpdates(service: Service, changes: readonly Partial<Book>[]): Promise<void> {
  let book = await service.createBook();
  for (const change of changes) {
    book = { ...book, ...change };
    expectUpdated(await service.put(`/book/${book.id}`, change), book);
    await expectStored(service, book);
  }
}

const CONCURRENT_ROUNDS = 10;

const TEXTS = [
  '',
  ' leading, trailing and  double space ',
  `quotes ' " \` and \\ % _ ; -- /* */`,
  'line\nbreak\r\ttab \u0001\u001f\u007f\u0085\u2028',
  'Война и мир, 紅樓夢, ألف ليلة وليلة',
  'e\u0301 is not \u00e9; 📖👩‍🚀\u{10ffff}\uffff',
  '<script>&amp;</script>',
  'true',
  'x'.repeat(4_096),
];
