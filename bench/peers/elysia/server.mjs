import { Elysia } from 'elysia';
import { issueToken, isValid } from './token.mjs';

const { AUTH_USERNAME, AUTH_PASSWORD, DB_URL, HOST, PORT } = process.env;
const books = await import(DB_URL.startsWith('sqlite:') ? './sqlite.mjs' : './postgres.mjs');

new Elysia()
  .onError(({ set, code, error }) => {
    if (code === 'NOT_FOUND') return respond(set, 404, 'Not found');
    console.error(error);
    return respond(set, 500, 'Internal server error');
  })
  .post('/token', async ({ request, set }) => {
    const { username, password } = (await readObject(request)) ?? {};
    if (typeof username !== 'string' || typeof password !== 'string') {
      return respond(set, 400, 'Invalid request payload');
    }
    if (username !== AUTH_USERNAME || password !== AUTH_PASSWORD) {
      return respond(set, 401, 'Invalid credentials');
    }
    return respond(set, 200, 'Token generated successfully', { token: issueToken() });
  })
  // For all routes below.
  .onBeforeHandle(({ request, set }) => {
    const token = request.headers.get('authorization');
    if (!token) return respond(set, 401, 'Authorization token required');
    return isValid(token) ? undefined : respond(set, 401, 'Invalid token');
  })
  .post('/book', async ({ request, set }) => {
    const fields = await readFields(request);
    if (!fields) return respond(set, 400, 'Invalid input');
    return respond(set, 201, 'Book created successfully', await books.create(fields));
  })
  .get('/books', async ({ query, set }) => {
    const { from, title, limit } = query;
    const found =
      from !== undefined
        ? books.page(Number(from), Number(limit))
        : title !== undefined
          ? books.search(`%${title}%`, Number(limit))
          : books.list();
    return respond(set, 200, 'Books retrieved successfully', await found);
  })
  .get('/book/:id', async ({ params, set }) => {
    const book = isId(params.id) && (await books.get(params.id));
    if (!book) return respond(set, 404, 'Book not found');
    return respond(set, 200, 'Book retrieved successfully', book);
  })
  .put('/book/:id', async ({ params, request, set }) => {
    if (!isId(params.id)) return respond(set, 404, 'Book not found');
    const fields = await readFields(request);
    if (!fields && (await books.get(params.id))) return respond(set, 400, 'Invalid input');
    // One statement finds the book and updates it.
    const book = fields && (await books.update(params.id, fields));
    if (!book) return respond(set, 404, 'Book not found');
    return respond(set, 200, 'Book updated successfully', book);
  })
  .delete('/book/:id', async ({ params, set }) => {
    if (!isId(params.id) || !(await books.remove(params.id))) return respond(set, 404, 'Book not found');
    return respond(set, 200, 'Book deleted successfully');
  })
  .listen({ hostname: HOST, port: Number(PORT ?? 8080) });

function respond(set, status, message, data = null) {
  set.status = status;
  return { status, message, data };
}

function isId(text) {
  return /^[0-9]{1,9}$/.test(text);
}

/** The fields of a book; undefined for an invalid body. */
async function readFields(request) {
  const body = await readObject(request);
  if (!body) return undefined;
  const { title, author, year } = body;
  if (title !== undefined && typeof title !== 'string') return undefined;
  if (author !== undefined && typeof author !== 'string') return undefined;
  if (year !== undefined && !Number.isInteger(year)) return undefined;
  return { title, author, year };
}

async function readObject(request) {
  try {
    const body = await request.json();
    return typeof body === 'object' && !Array.isArray(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
