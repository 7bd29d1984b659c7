import { expectBook, expectBooks, expectNull, expectSame } from '../expect.ts';
import { rulesOf } from '../rule.ts';

/** Bodies that nobody reads as a Book. */
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

/** What the specification says of the five operations on books. */
export const bookEndpointRules = [
  ...rulesOf(
    { section: 'POST /book', group: 'specification' },
    {
      '400 Invalid input when the body cannot be read as a Book': async (service) => {
        for (const body of UNREADABLE) expectNull(await service.post('/book', body), 400, 'Invalid input');
      },
      '201 Book created successfully otherwise; data is the stored Book': async (service) => {
        const fields = { title: 'The Iliad', author: 'Homer', year: -750 };
        const book = expectBook(
          await service.post('/book', fields),
          201,
          'Book created successfully',
          fields,
        );
        expectBook(await service.get(`/book/${book.id}`), 200, 'Book retrieved successfully', book);
      },
      'every book gets a distinct id': async (service) => {
        const [first, second] = [await service.createBook(), await service.createBook()];
        expectSame('two ids', first.id === second.id, false);
      },
      'text is stored unchanged': async (service) => {
        for (const title of TEXTS) {
          const { id } = await service.createBook({ title, author: title });
          expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', {
            title,
            author: title,
          });
        }
      },
      'escapes in JSON are decoded': async (service) => {
        const body = '{"\\u0074itle":"\\u0041\\n\\ud83d\\udcd6","author":"\\/","year":1}';
        const fields = { title: 'A\n📖', author: '/', year: 1 };
        expectBook(await service.post('/book', body), 201, 'Book created successfully', fields);
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
        expectSame('GET /books: has what was deleted', listed.has(deleted), false);
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
        expectBook(await service.get(`/book/${book.id}`), 200, 'Book retrieved successfully', book);
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
        expectBook(await service.put(`/book/${id}`, fields), 200, 'Book updated successfully', book);
        expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', book);
      },
      'a field absent from the body keeps its stored value': async (service) => {
        let book = await service.createBook();
        for (const change of [{ title: 'new title' }, { author: 'new author' }, { year: 2001 }]) {
          book = { ...book, ...change };
          expectBook(await service.put(`/book/${book.id}`, change), 200, 'Book updated successfully', book);
          expectBook(await service.get(`/book/${book.id}`), 200, 'Book retrieved successfully', book);
        }
      },
      'a field that is present is stored, also when it is "" or 0': async (service) => {
        let book = await service.createBook();
        for (const change of [{ title: '' }, { author: '' }, { year: 0 }]) {
          book = { ...book, ...change };
          expectBook(await service.put(`/book/${book.id}`, change), 200, 'Book updated successfully', book);
          expectBook(await service.get(`/book/${book.id}`), 200, 'Book retrieved successfully', book);
        }
      },
      'changes no other book': async (service) => {
        const [changed, other] = [await service.createBook(), await service.createBook()];
        await service.put(`/book/${changed.id}`, { title: 'changed' });
        expectBook(await service.get(`/book/${other.id}`), 200, 'Book retrieved successfully', other);
      },
      'concurrent updates of different fields are all kept': async (service) => {
        const { id } = await service.createBook();
        for (let year = 1; year <= CONCURRENT_ROUNDS; year++) {
          const fields = { title: `title ${year}`, author: `author ${year}`, year };
          const changes = Object.entries(fields).map(([name, value]) => ({ [name]: value }));
          const answers = await Promise.all(changes.map((change) => service.put(`/book/${id}`, change)));
          for (const answer of answers) expectBook(answer, 200, 'Book updated successfully', { id });
          expectBook(await service.get(`/book/${id}`), 200, 'Book retrieved successfully', fields);
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
        expectBook(await service.send('GET', `/book/${id}`, { headers }), 200, 'Book retrieved successfully');
        const answer = await service.send('DELETE', `/book/${id}`, { headers });
        expectNull(answer, 200, 'Book deleted successfully');
      },
      'deletes no other book': async (service) => {
        const [deleted, other] = [await service.createBook(), await service.createBook()];
        await service.delete(`/book/${deleted.id}`);
        expectBook(await service.get(`/book/${other.id}`), 200, 'Book retrieved successfully', other);
      },
    },
  ),
];

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
  'x'.repeat(10_000),
];
