import type { Command, ParsedArguments } from './command.ts';

const SERVICE_URL = {
  value: 'URL',
  description: 'the URL of the service; by default http://localhost:PORT',
};

const JSON_OUTPUT = { description: 'prints one JSON object, for scripts' };

/** All commands, in the order of the help. */
export const COMMANDS = {
  serve: {
    summary: 'starts the service, as without a command; SIGTERM, SIGINT and SIGHUP stop it',
    options: {},
    details: 'Environment variables, or lines of .env, configure it: see docs/configuration.md.',
  },
  token: {
    summary: 'prints a token, signed with SECRET_TOKEN',
    options: {
      ttl: { value: 'TIME', description: 'lifetime: 900 (seconds), 15m, 1h or 7d; 15m by default' },
      'read-only': { description: 'a token that is limited to GET and HEAD: for websites and assistants' },
    },
    details: 'Standard output has the token only: TOKEN=$(bookkeeping token)',
  },
  check: {
    summary: 'checks the configuration and the store, and changes neither',
    options: { json: JSON_OUTPUT },
    details:
      'Prints a line for each; exit code 0 when a start would succeed, 1 otherwise. It tries neither the port nor whether the\nuser of PostgreSQL may create tables and triggers.',
  },
  import: {
    summary: 'stores the books of a CSV, JSON or NDJSON file; - is standard input',
    file: 'required',
    options: {
      format: {
        value: 'FORMAT',
        description: 'csv, json or ndjson; by default by the extension of FILE, or by its content',
      },
      map: {
        value: 'MAP',
        isRepeatable: true,
        description: 'the column of each field: title=original_title,author=authors; year= omits a field',
      },
      'no-header': { description: 'the first line of CSV is a book; the columns are #1, #2 and so on' },
      'year-unknown': { value: '0', description: 'stores a row whose year cannot be read, with the year 0' },
      'dry-run': { description: 'prints the columns, the first books, bad rows and counts; stores nothing' },
      'keep-ids': { description: 'reads the column id and keeps the ids of the books' },
      'skip-existing': {
        description: 'skips one row for each stored book with the same title, author and year',
      },
      strict: { description: 'stores nothing if one row is bad' },
      json: JSON_OUTPUT,
    },
    details: `The first line of CSV has the names of the columns; the delimiter is a comma, semicolon, tab or |. JSON is an array of
objects, also inside an object; NDJSON an object in each line. A field that --map does not name gets a column by its
name, for instance those of Goodreads, LibraryThing and Calibre. If a field has no column, nothing is stored, unless
--map omits it (year=). In JSON, the members of the first 1,000 objects are the columns; year=year reads a member that
only comes later. A year may be empty, or a date. Text is UTF-8, UTF-16, or else Windows-1252.

Bad rows are reported by line number, and the others are stored; the exit code is then 1. Books are stored in batches,
each durable once it is stored: after an interruption, the same command with --skip-existing stores the rest. No book is
overwritten: a row with the id of another book is bad, and one with an identical stored book is skipped. New ids follow
the highest id that was kept. With --strict, the import is one transaction: until it ends, a service on the same SQLite
file cannot write.`,
  },
  export: {
    summary: 'writes all books to a file, or to standard output',
    file: 'optional',
    options: {
      format: {
        value: 'FORMAT',
        description: 'csv, json or ndjson; by default the one of the extension of FILE, and csv without FILE',
      },
    },
    details: `The books are a snapshot, with their ids and in the order of these, also while a service writes. FILE is written
completely or not at all; an existing one is replaced. An export can be imported:

  bookkeeping export books.ndjson
  DB_URL=postgres://… bookkeeping import --keep-ids books.ndjson`,
  },
  follow: {
    summary: 'prints the changes of the books of a running service, or posts them to a web hook',
    file: 'optional',
    options: {
      url: SERVICE_URL,
      once: { description: 'ends when there is no further change, instead of waiting' },
      post: { value: 'URL', description: 'posts each change to this URL, as Standard Webhooks says' },
      'secret-file': {
        value: 'FILE',
        description: 'the file with the secret of the web hook: whsec_ and 24 to 64 bytes in base64',
      },
    },
    details: `Each change is a line of JSON: cursor, type, at, book. FILE keeps the cursor of the last change, and the next run
continues after it; without FILE the changes begin with the first that is kept. After a crash, the last change may come
twice: its cursor is the same. The service needs a history: see HISTORY.

A web hook gets {"type": "book.created", "timestamp": …, "data": {…}} with the headers webhook-id (the cursor),
webhook-timestamp and webhook-signature (HMAC-SHA256). Until it responds with 2xx, the change is posted again, after up
to 5 minutes; 410 ends the command.`,
  },
  'restore-book': {
    summary: 'stores a deleted book again, as it was, under its ID',
    file: 'required',
    operand: 'ID',
    options: { url: SERVICE_URL },
    details: 'Prints the book as JSON. The service needs a history: see HISTORY.',
  },
  mcp: {
    summary: 'lets an assistant read the books of a running service, by the Model Context Protocol',
    options: {
      url: SERVICE_URL,
      'allow-changes': { description: 'lets the assistant add, update, delete and restore books, too' },
    },
    details: `The program of the assistant starts it, and talks to it on standard input and output: docs/assistants.md. It signs its
tokens with SECRET_TOKEN, or sends BOOKKEEPING_TOKEN if that is set; with a read-only one nothing can be changed.`,
  },
  backup: {
    summary: 'copies a SQLite store, also while a service writes to it',
    file: 'required',
    options: {},
    details: `The copy is a snapshot, and its integrity is checked before it gets its name. An existing FILE is not overwritten.
bookkeeping restore puts it back. PostgreSQL has a tool of its own:

  pg_dump --format=custom --file=FILE DATABASE`,
  },
  restore: {
    summary: 'replaces a SQLite store with a backup; stop the service before',
    file: 'required',
    options: {},
    details: `FILE is copied, and the copy is checked before it atomically replaces the store of DB_URL. The old store is kept beside
it, as NAME.before-restore. Do not copy a backup over the file of a store yourself: SQLite would apply the log of the
old store (-wal) to it. PostgreSQL has a tool of its own:

  pg_restore --clean --if-exists --dbname=DATABASE FILE`,
  },
  help: {
    summary: 'describes all commands, or one',
    file: 'optional',
    operand: 'COMMAND',
    options: { man: { description: 'prints the manual page: bookkeeping help --man > bookkeeping.1' } },
    details: 'The same as --help.',
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

export type ArgumentsOf<Name extends CommandName> = ParsedArguments<(typeof COMMANDS)[Name]>;
