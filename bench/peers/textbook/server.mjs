import express from 'express';
import { issueToken, requireToken } from './auth.mjs';
import { sequelize } from './book.mjs';
import { books } from './books.mjs';
import { respond } from './envelope.mjs';

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/token', issueToken);
app.use(requireToken, books);
app.use((_req, res) => respond(res, 404, 'Not found'));
app.use((error, req, res, _next) => {
  if (error.status !== 400) {
    console.error(error);
    return respond(res, 500, 'Internal server error');
  }
  return respond(res, 400, req.path === '/token' ? 'Invalid request payload' : 'Invalid input');
});

await sequelize.sync();
app.listen(Number(process.env.PORT ?? 8080), process.env.HOST);
