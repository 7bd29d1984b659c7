import { Router } from 'express';
import { Book } from './book.mjs';
import { respond } from './envelope.mjs';

export const books = Router();

books.param('id', (_req, res, next, id) => {
  if (!/^[0-9]{1,9}$/.test(id)) return respond(res, 404, 'Book not found');
  return next();
});

books.post('/book', async (req, res) => {
  const fields = readFields(req.body);
  if (!fields) return respond(res, 400, 'Invalid input');
  return respond(res, 201, 'Book created successfully', await Book.create(fields));
});

books.get('/books', async (_req, res) => {
  const all = await Book.findAll({ order: [['id', 'ASC']], raw: true });
  return respond(res, 200, 'Books retrieved successfully', all);
});

books.get('/book/:id', async (req, res) => {
  const book = await Book.findByPk(req.params.id);
  if (!book) return respond(res, 404, 'Book not found');
  return respond(res, 200, 'Book retrieved successfully', book);
});

books.put('/book/:id', async (req, res) => {
  const book = await Book.findByPk(req.params.id);
  if (!book) return respond(res, 404, 'Book not found');
  const fields = readFields(req.body);
  if (!fields) return respond(res, 400, 'Invalid input');
  return respond(res, 200, 'Book updated successfully', await book.update(fields));
});

books.delete('/book/:id', async (req, res) => {
  const count = await Book.destroy({ where: { id: req.params.id } });
  if (count === 0) return respond(res, 404, 'Book not found');
  return respond(res, 200, 'Book deleted successfully');
});

/** The fields of a book; undefined for an invalid body. */
function readFields(body) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { title, author, year } = body;
  if (title !== undefined && typeof title !== 'string') return undefined;
  if (author !== undefined && typeof author !== 'string') return undefined;
  if (year !== undefined && !Number.isInteger(year)) return undefined;
  return { title, author, year };
}
