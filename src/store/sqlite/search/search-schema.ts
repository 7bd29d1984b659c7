/** The log of the latest changes, numbered by `note`. The triggers must not fail, as they run in the transactions of all writers. */
export const CHANGE_LOG = `
  create table if not exists book_changes (note integer primary key autoincrement, id integer not null) strict;
  create trigger if not exists book_search_insert after insert on books
    when new.id <= (select seq from sqlite_sequence where name = 'books')
  begin
    insert into book_changes (id) values (new.id);
  end;
  create trigger if not exists book_search_update after update on books
  begin
    insert into book_changes (id) values (old.id);
    insert into book_changes (id) select new.id where new.id <> old.id;
  end;
  create trigger if not exists book_search_delete after delete on books
  begin
    insert into book_changes (id) values (old.id);
  end;
  create trigger if not exists book_search_forget after insert on book_changes
  begin
    delete from book_changes where note <= new.note - 100000;
  end;
`;

/** The index, in a temporary file of the connection, so that building it blocks no writer. */
export const INDEX = `
  attach '' as search;
  pragma search.journal_mode = memory;
  pragma search.synchronous = off;
  pragma search.cache_size = -${16 * 1_024};
  create table search.book_search (
    id integer primary key,
    title_key text not null,
    author_key text not null,
    year integer not null,
    bytes integer not null,
    title_lower text not null,
    author_lower text not null,
    words text not null
  ) strict;
  create virtual table search.book_words using fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
  );
  create index search.title_up on book_search (title_key);
  create index search.title_down on book_search (title_key desc);
  create index search.author_up on book_search (author_key);
  create index search.author_down on book_search (author_key desc);
  create index search.year_up on book_search (year);
  create index search.year_down on book_search (year desc);
`;

export const ADD = 'insert into book_search values (?, ?, ?, ?, ?, ?, ?, ?)';
