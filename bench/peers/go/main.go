// The same contract in plain Go: net/http, and pgx or go-sqlite3 with prepared statements, without a log.

// Patterns with methods also without a go.mod, whose version would allow them.
//
//go:debug httpmuxgo121=0
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

type book struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	Author string `json:"author"`
	Year   int64  `json:"year"`
}

// The rows of both drivers.
type rows interface {
	Next() bool
	Scan(to ...any) error
	Err() error
}

func readAll(from rows) ([]book, error) {
	all := []book{}
	for from.Next() {
		var one book
		if err := from.Scan(&one.ID, &one.Title, &one.Author, &one.Year); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, from.Err()
}

// The body of POST and PUT; absent fields are nil.
type fields struct {
	Title  *string
	Author *string
	Year   *int64
}

// A store of books. A nil book means that there is none with the id.
type store interface {
	create(fields) (*book, error)
	list() ([]book, error)
	page(from int64, limit int64) ([]book, error)
	search(pattern string, limit int64) ([]book, error)
	get(id int64) (*book, error)
	update(id int64, changes fields) (*book, error)
	remove(id int64) (bool, error)
}

var books store

func main() {
	databaseURL := os.Getenv("DB_URL")
	if path, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		books = openSqlite(path)
	} else {
		books = openPostgres(databaseURL)
	}
	http.HandleFunc("POST /token", login)
	http.HandleFunc("POST /book", protect(create))
	http.HandleFunc("GET /books", protect(list))
	http.HandleFunc("GET /book/{id}", protect(get))
	http.HandleFunc("PUT /book/{id}", protect(update))
	http.HandleFunc("DELETE /book/{id}", protect(remove))
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { respond(w, 404, "Not found", nil) })
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}

func login(w http.ResponseWriter, r *http.Request) {
	var credentials struct{ Username, Password string }
	if !readObject(r, &credentials) {
		respond(w, 400, "Invalid request payload", nil)
	} else if credentials.Username != os.Getenv("AUTH_USERNAME") ||
		credentials.Password != os.Getenv("AUTH_PASSWORD") {
		respond(w, 401, "Invalid credentials", nil)
	} else {
		respond(w, 200, "Token generated successfully", map[string]string{"token": issueToken()})
	}
}

func protect(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if token := r.Header.Get("Authorization"); token == "" {
			respond(w, 401, "Authorization token required", nil)
		} else if !isValid(token) {
			respond(w, 401, "Invalid token", nil)
		} else {
			handle(w, r)
		}
	}
}

func create(w http.ResponseWriter, r *http.Request) {
	var input fields
	if !readObject(r, &input) {
		respond(w, 400, "Invalid input", nil)
		return
	}
	created, err := books.create(input)
	respondWith(w, 201, "Book created successfully", created, err)
}

func list(w http.ResponseWriter, r *http.Request) {
	found, err := find(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	respond(w, 200, "Books retrieved successfully", found)
}

func find(query url.Values) ([]book, error) {
	limit, _ := strconv.ParseInt(query.Get("limit"), 10, 64)
	if query.Has("from") {
		from, _ := strconv.ParseInt(query.Get("from"), 10, 64)
		return books.page(from, limit)
	}
	if query.Has("title") {
		return books.search("%"+query.Get("title")+"%", limit)
	}
	return books.list()
}

func get(w http.ResponseWriter, r *http.Request) {
	found, err := books.get(idOf(r))
	respondWith(w, 200, "Book retrieved successfully", found, err)
}

func update(w http.ResponseWriter, r *http.Request) {
	var changes fields
	if readObject(r, &changes) {
		// One statement finds the book and updates it.
		updated, err := books.update(idOf(r), changes)
		respondWith(w, 200, "Book updated successfully", updated, err)
	} else if found, err := books.get(idOf(r)); found == nil || err != nil {
		respondWith(w, 200, "", found, err)
	} else {
		respond(w, 400, "Invalid input", nil)
	}
}

func remove(w http.ResponseWriter, r *http.Request) {
	if removed, err := books.remove(idOf(r)); err != nil {
		fail(w, err)
	} else if !removed {
		respond(w, 404, "Book not found", nil)
	} else {
		respond(w, 200, "Book deleted successfully", nil)
	}
}

// The id of a path; 0, which no book has, when it is not one.
func idOf(r *http.Request) int64 {
	id, _ := strconv.ParseUint(r.PathValue("id"), 10, 31)
	return int64(id)
}

// Reads a JSON object from the body. It returns false for anything else.
func readObject(r *http.Request, into any) bool {
	body, err := io.ReadAll(r.Body)
	return err == nil && json.Unmarshal(body, into) == nil && strings.HasPrefix(strings.TrimSpace(string(body)), "{")
}

func respondWith(w http.ResponseWriter, status int, message string, one *book, err error) {
	if err != nil {
		fail(w, err)
	} else if one == nil {
		respond(w, 404, "Book not found", nil)
	} else {
		respond(w, status, message, one)
	}
}

func fail(w http.ResponseWriter, err error) {
	log.Print(err)
	respond(w, 500, "Internal server error", nil)
}

func respond(w http.ResponseWriter, status int, message string, data any) {
	body, _ := json.Marshal(struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	}{status, message, data})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
