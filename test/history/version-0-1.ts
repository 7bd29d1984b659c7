/** What version 0.1 creates in a store that records its history. */
export const HISTORY_0_1 = `
CREATE TABLE book_history (log text not null, removed integer not null, days integer) strict;
CREATE TABLE book_changes (note integer primary key autoincrement, id integer not null, type text, at integer, title text, author text, year integer) strict;
CREATE INDEX book_changes_by_book on book_changes (id);
CREATE INDEX book_changes_deleted on book_changes (type) where type = 'deleted';
CREATE TRIGGER book_history_insert after insert on books
  begin
    
  insert into book_changes (id, type, at, title, author, year)
  select new.id, 'created', cast(round((julianday('now') - 2440587.5) * 86400000) as integer),
    cast(coalesce(new.title, '') as text), cast(coalesce(new.author, '') as text),
    cast(coalesce(new.year, 0) as integer);
  end;
CREATE TRIGGER book_history_update after update on books
    when old.id <> new.id or coalesce(old.title, '') <> coalesce(new.title, '')
      or coalesce(old.author, '') <> coalesce(new.author, '') or coalesce(old.year, 0) <> coalesce(new.year, 0)
  begin
    
  insert into book_changes (id, type, at, title, author, year)
  select old.id, 'deleted', cast(round((julianday('now') - 2440587.5) * 86400000) as integer),
    cast(coalesce(old.title, '') as text), cast(coalesce(old.author, '') as text),
    cast(coalesce(old.year, 0) as integer) where old.id <> new.id;
    
  insert into book_changes (id, type, at, title, author, year)
  select new.id, iif(old.id = new.id, 'updated', 'created'), cast(round((julianday('now') - 2440587.5) * 86400000) as integer),
    cast(coalesce(new.title, '') as text), cast(coalesce(new.author, '') as text),
    cast(coalesce(new.year, 0) as integer);
  end;
CREATE TRIGGER book_history_delete after delete on books
  begin
    
  insert into book_changes (id, type, at, title, author, year)
  select old.id, 'deleted', cast(round((julianday('now') - 2440587.5) * 86400000) as integer),
    cast(coalesce(old.title, '') as text), cast(coalesce(old.author, '') as text),
    cast(coalesce(old.year, 0) as integer);
  end;
insert into book_history (log, removed, days) values ('0123456789abcdef', 0, 90);
`;

/** The trigger that it, and earlier versions, create with the search index. */
export const FORGET_0_1 = `
create trigger if not exists book_search_forget after insert on book_changes
  begin
    delete from book_changes where note <= new.note - 100000;
  end;
`;
