import { Database } from 'bun:sqlite';

const database = new Database(process.env.DB_URL.slice('sqlite:'.length), { create: true, strict: true });
// The durability of the service that it is compared with: every commit is on disk before the response.
database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000');
database.exec(`create table if not exists books (
  id integer primary key autoincrement,
  title text not null,
  author text not null,
  year integer not null
)`);

const insert = database.prepare(
  'insert into books (title, author, year) values (?1, ?2, ?3) returning id, title, author, year',
);
const selectAll = database.prepare('select id, title, author, year from books order by id');
const selectPage = database.prepare(
  'select id, title, author, year from books where id >= ?1 order by id limit ?2',
);
const selectTitles = database.prepare(
  'select id, title, author, year from books where title like ?1 order by id limit ?2',
);
const select = database.prepare('select id, title, author, year from books where id = ?1');
const updateBook = database.prepare(`update books
  set title = coalesce(?2, title), author = coalesce(?3, author), year = coalesce(?4, year)
  where id = ?1 returning id, title, author, year`);
const deleteBook = database.prepare('delete from books where id = ?1');

export const create = ({ title = '', author = '', year = 0 }) => insert.get(title, author, year);
export const list = () => selectAll.all();
export const page = (from, limit) => selectPage.all(from, limit);
export const search = (pattern, limit) => selectTitles.all(pattern, limit);
export const get = (id) => select.get(Number(id));
export const update = (id, { title = null, author = null, year = null }) =>
  updateBook.get(Number(id), title, author, year);
export const remove = (id) => deleteBook.run(Number(id)).changes > 0;
