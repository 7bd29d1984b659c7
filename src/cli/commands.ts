import type { Command } from './command.ts';

/** All commands. */
export const COMMANDS = {
  serve: {
    summary: 'serves until SIGTERM or SIGINT; what happens without a command',
    operands: [],
    options: {},
    notes: 'How it serves is said by environment variables, or lines of .env: see README.md.',
    load: () => Promise.reject(new Error('a service is started by src/main.ts')),
  },
  token: {
    summary: 'prints a token, signed with SECRET_TOKEN',
    operands: [],
    options: {
      ttl: { value: 'TIME', meaning: 'how long it is good: 900 (seconds), 15m, 1h or 7d; 15m by default' },
    },
    notes: 'Nothing but the token goes to standard output: TOKEN=$(bookkeeping token)',
    load: () => import('./commands/token.ts'),
  },
  check: {
    summary: 'looks at the configuration and the store, and changes neither',
    operands: [],
    options: {},
    notes: 'A line for each; exit code 0 when a start would succeed, 1 otherwise. It does not try the port.',
    load: () => import('./commands/check.ts'),
  },
  import: {
    summary: 'stores the books of a CSV, JSON or NDJSON file; - is standard input',
    operands: [{ name: 'FILE', isRequired: true }],
    options: {
      format: {
        value: 'FORMAT',
        meaning: 'csv, json or ndjson; by default what the ending of FILE says, and csv for -',
      },
      map: {
        value: 'MAP',
        meaning: 'the columns of fields: title=original_title,author=authors; year= leaves a field out',
      },
      'dry-run': {
        meaning: 'the columns, the first books, bad rows and counts are shown; nothing is stored',
      },
      'keep-ids': { meaning: 'the column id is read, and books keep their ids' },
      'skip-existing': {
        meaning: 'books are left out that are there, or came before, by title, author and year',
      },
      strict: { meaning: 'one bad row, and nothing is stored' },
    },
    notes: `CSV begins with the names of its columns; its delimiter is a comma, semicolon, tab or |. JSON is an array of objects,
NDJSON an object in each line. A field that --map does not name has the column whose name suggests it, as those of
Goodreads, LibraryThing and Calibre do. If a field has no column, nothing is stored, unless --map leaves it out (year=).
Of JSON, the members of the first 1,000 objects count as columns; year=year reads a member that comes later only.
Fields are read as in a request; a year in CSV may be empty, or a date. Text is UTF-8, or UTF-16 with a byte-order mark.

A bad row is told with its line, and the others are stored; the exit code is 1 then. Books are stored in batches,
each durable once it is stored: after an interruption the same command with --skip-existing does the rest. A book is
never overwritten: a row is bad whose id another book has, and skipped when it is the very same book. New ids come
after the highest that was kept. With --strict all is one transaction: while it lasts, a service on the same SQLite
file cannot write.`,
    load: () => import('./commands/import.ts'),
  },
  export: {
    summary: 'writes all books to a file, or to standard output',
    operands: [{ name: 'FILE', isRequired: false }],
    options: {
      format: {
        value: 'FORMAT',
        meaning: 'csv, json or ndjson; by default what the ending of FILE says, and csv without',
      },
    },
    notes: `The books are those of one moment, with their ids and in the order of these, also while a service writes. A FILE is
there as a whole or not at all; one that was there before is replaced. What is exported can be imported:

  bookkeeping export books.ndjson
  DB_URL=postgres://… bookkeeping import --keep-ids books.ndjson`,
    load: () => import('./commands/export.ts'),
  },
  backup: {
    summary: 'copies a SQLite store, also while a service writes to it',
    operands: [{ name: 'FILE', isRequired: true }],
    options: {},
    notes: `The copy is that of one moment, and its integrity is checked before it gets its name. A FILE that exists is not
overwritten. bookkeeping restore puts it back. PostgreSQL has a tool of its own:

  pg_dump --format=custom --file=FILE DATABASE`,
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    summary: 'puts a backup in the place of a SQLite store, while no service runs',
    operands: [{ name: 'FILE', isRequired: true }],
    options: {},
    notes: `FILE is copied, and the copy is checked before it takes the place of the store that DB_URL names, at once or not at
all. The store that was there is kept beside it, as NAME.before-restore. Do not copy a backup over the file of a store
yourself: SQLite would apply the log of the old store (-wal) to it. PostgreSQL has a tool of its own:

  pg_restore --clean --if-exists --dbname=DATABASE FILE`,
    load: () => import('./commands/restore.ts'),
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
