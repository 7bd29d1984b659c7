package main

import (
	"database/sql"
	"errors"
	"log"

	_ "github.com/mattn/go-sqlite3"
)

// SQLite has one writer at a time; reads have connections of their own.
const readers = 8

// The durability of the service that it is compared with: every commit is on disk before the response.
const settings = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_txlock=immediate"

type sqliteStore struct{ insert, selectAll, selectPage, selectTitles, selectOne, change, delete *sql.Stmt }

func openSqlite(path string) store {
	writer, reader := open(path, 1), open(path, readers)
	_, err := writer.Exec(`create table if not exists books (
		id integer primary key autoincrement,
		title text not null,
		author text not null,
		year integer not null
	)`)
	if err != nil {
		log.Fatal(err)
	}
	return &sqliteStore{
		insert: prepare(writer, `insert into books (title, author, year)
			values (coalesce(?1, ''), coalesce(?2, ''), coalesce(?3, 0)) returning id, title, author, year`),
		selectAll:  prepare(reader, "select id, title, author, year from books order by id"),
		selectPage: prepare(reader, "select id, title, author, year from books where id >= ?1 order by id limit ?2"),
		selectTitles: prepare(reader,
			"select id, title, author, year from books where title like ?1 order by id limit ?2"),
		selectOne: prepare(reader, "select id, title, author, year from books where id = ?1"),
		change: prepare(writer, `update books
			set title = coalesce(?2, title), author = coalesce(?3, author), year = coalesce(?4, year)
			where id = ?1 returning id, title, author, year`),
		delete: prepare(writer, "delete from books where id = ?1"),
	}
}

func open(path string, connections int) *sql.DB {
	database, err := sql.Open("sqlite3", "file:"+path+settings)
	if err != nil {
		log.Fatal(err)
	}
	database.SetMaxOpenConns(connections)
	database.SetMaxIdleConns(connections)
	return database
}

func prepare(database *sql.DB, text string) *sql.Stmt {
	statement, err := database.Prepare(text)
	if err != nil {
		log.Fatal(err)
	}
	return statement
}

func (s *sqliteStore) create(of fields) (*book, error) {
	return readOne(s.insert.QueryRow(of.Title, of.Author, of.Year))
}

func (s *sqliteStore) list() ([]book, error) {
	return readMany(s.selectAll)
}

func (s *sqliteStore) page(from, limit int64) ([]book, error) {
	return readMany(s.selectPage, from, limit)
}

func (s *sqliteStore) search(pattern string, limit int64) ([]book, error) {
	return readMany(s.selectTitles, pattern, limit)
}

func readMany(statement *sql.Stmt, arguments ...any) ([]book, error) {
	rows, err := statement.Query(arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return readAll(rows)
}

func (s *sqliteStore) get(id int64) (*book, error) {
	return readOne(s.selectOne.QueryRow(id))
}

func (s *sqliteStore) update(id int64, to fields) (*book, error) {
	return readOne(s.change.QueryRow(id, to.Title, to.Author, to.Year))
}

func (s *sqliteStore) remove(id int64) (bool, error) {
	result, err := s.delete.Exec(id)
	if err != nil {
		return false, err
	}
	count, err := result.RowsAffected()
	return count > 0, err
}

func readOne(row *sql.Row) (*book, error) {
	var one book
	err := row.Scan(&one.ID, &one.Title, &one.Author, &one.Year)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &one, err
}
