import express from 'express';
import { issueToken, requireToken } from './auth.mjs';
import { sequelize } from './book.mjs';
import { books } from './books.mjs';
import { answer } from './envelope.mjs';

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/token', issueToken);
app.use(requireToken, books);
app.use((_req, res) => answer(res, 404, 'Not found'));
app.use((error, req, res, _next) => {
  if (error.status !== 400) {
    console.error(error);
    return answer(res, 500, 'Internal server error');
  }
  return answer(res, 400, req.path === '/token' ? 'Invalid request payload' : 'Invalid input');
});

await sequelize.sync();
app.listen(Number(process.env.PORT ?? 8080), process.env.HOST);
