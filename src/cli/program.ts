import { Command } from 'commander';
import { readVersion } from '../config/version.ts';
import { CommandError, UsageError } from './exits.ts';
import { manualPage } from './manual-page.ts';

const URL_HELP = 'the URL of the service; by default http://localhost:PORT';
const JSON_HELP = 'prints one JSON object, for scripts';

const EXIT_CODE_HELP = `Exit code: 0 on success, 1 on failure, 2 when the command line is invalid,
129, 130 or 143 when interrupted by SIGHUP, SIGINT or SIGTERM, 141 when
standard output or standard error was closed.`;

/**
 * All commands, in the order of the help. The module of a command is loaded when it runs.
 * @param end gets the exit code of the command that runs
 */
export function createProgram(end: (exitCode: Promise<number>) => Promise<void>): Command {
  const program = new Command('bookkeeping')
    .description(
      'A service that keeps book records, and its tools.\n\nAll commands read the configuration of the service: environment variables, \
then .env in the working directory.',
    )
    .version(readVersion(), '-v, --version', 'prints the version')
    .helpOption('-h, --help', 'prints this help')
    .helpCommand(false)
    .addHelpText('afterAll', `\n${EXIT_CODE_HELP}`)
    .enablePositionalOptions()
    .configureOutput({ outputError: () => {} })
    .exitOverride();

  describe(
    program.command('serve'),
    'starts the service, as without a command; SIGTERM, SIGINT and SIGHUP stop it',
    'Environment variables, or lines of .env, configure it: see docs/configuration.md.',
  ).action(() => {
    throw new CommandError('src/main.ts starts the service');
  });

  describe(
    program.command('token'),
    'prints a token, signed with SECRET_TOKEN',
    'Standard output has the token only: TOKEN=$(bookkeeping token)',
  )
    .option('--ttl <TIME>', 'lifetime: 900 (seconds), 15m, 1h or 7d; 15m by default')
    .option('--read-only', 'a token that is limited to GET and HEAD: for websites and assistants')
    .action(async (options) => end((await import('./commands/token.ts')).perform(options)));

  describe(
    program.command('check'),
    'checks the configuration and the store, and changes neither',
    'Prints a line for each; exit code 0 when a start would succeed, 1 otherwise. It tries neither the port nor whether the user of \
PostgreSQL may create tables and triggers.',
  )
    .option('--json', JSON_HELP)
    .action(async (options) => end((await import('./commands/check.ts')).perform(options)));

  describe(
    program.command('import'),
    'stores the books of a CSV, JSON or NDJSON file; - is standard input',
    `The first line of CSV has the names of the columns; the delimiter is a comma, semicolon, tab or |. JSON is an array of objects, \
also inside an object; NDJSON an object in each line. A field that --map does not name gets a column by its name, for instance those of \
Goodreads, LibraryThing and Calibre. If a field has no column, nothing is stored, unless --map omits it (year=). In JSON, the members of \
the first 1,000 objects are the columns; year=year reads a member that only comes later. A year may be empty, or a date. Text is UTF-8, \
UTF-16, or else Windows-1252.

Bad rows are reported by line number, and the others are stored; the exit code is then 1. Books are stored in batches, each durable once \
it is stored: after an interruption, the same command with --skip-existing stores the rest. No book is overwritten: a row with the id of \
another book is bad, and one with an identical stored book is skipped. New ids follow the highest id that was kept. With --strict, the \
import is one transaction: until it ends, a service on the same SQLite file cannot write.

With --update, an empty cell empties the field, and a field without a column stays as it is. A row without an id is a new book; one whose \
id no book has, such as that of a deleted book, is bad. --dry-run prints the first changes.`,
  )
    .argument('<FILE>')
    .option(
      '--format <FORMAT>',
      'csv, json or ndjson; by default by the extension of FILE, or by its content',
    )
    .option(
      '--map <MAP>',
      'the column of each field: title=original_title,author=authors; year= omits a field',
      (map, maps: readonly string[] | undefined): readonly string[] => [...(maps ?? []), map],
    )
    .option('--no-header', 'the first line of CSV is a book; the columns are #1, #2 and so on')
    .option(
      '--year-unknown <0>',
      'stores a row whose year cannot be read, with the year 0; with --update, a stored book keeps its year',
    )
    .option('--dry-run', 'prints the columns, the first books, bad rows and counts; stores nothing')
    .option('--keep-ids', 'reads the column id and keeps the ids of the books')
    .option('--update', 'changes the stored books that have the ids of the rows, where they differ')
    .option(
      '--trust-ids',
      'with --update, changes books even if most of them have another title and author than their rows',
    )
    .option('--skip-existing', 'skips one row for each stored book with the same title, author and year')
    .option('--strict', 'stores nothing if one row is bad')
    .option('--json', JSON_HELP)
    .action(async (file, options) =>
      end((await import('../../formats/cli/import.ts')).perform(file, options)),
    );

  describe(
    program.command('export'),
    'writes all books to a file, or to standard output',
    `The books are a snapshot, with their ids and in the order of these, also while a service writes. FILE is written completely or not \
at all; an existing one is replaced. An export can be imported:

  bookkeeping export books.ndjson
  DB_URL=postgres://… bookkeeping import --keep-ids books.ndjson`,
  )
    .argument('[FILE]')
    .option(
      '--format <FORMAT>',
      'csv, json or ndjson; by default the one of the extension of FILE, and csv without FILE',
    )
    .action(async (file, options) =>
      end((await import('../../formats/cli/export.ts')).perform(file, options)),
    );

  describe(
    program.command('follow'),
    'prints the changes of the books of a running service, or posts them to a web hook',
    `Each change is a line of JSON: cursor, type, at, book. FILE keeps the cursor of the last change, and the next run continues after \
it; without FILE the changes begin with the first that is kept. After a crash, the last change may come twice: its cursor is the same. \
The service needs a history: see HISTORY.

A web hook gets {"type": "book.created", "timestamp": …, "data": {…}} with the headers webhook-id (the cursor), webhook-timestamp and \
webhook-signature (HMAC-SHA256). Until it responds with 2xx, the change is posted again, after up to 5 minutes; 410 ends the command.`,
  )
    .argument('[FILE]')
    .option('--url <URL>', URL_HELP)
    .option('--once', 'ends when there is no further change, instead of waiting')
    .option('--post <URL>', 'posts each change to this URL, as Standard Webhooks says')
    .option(
      '--secret-file <FILE>',
      'the file with the secret of the web hook: whsec_ and 24 to 64 bytes in base64',
    )
    .action(async (file, options) => end((await import('../../web-hook/follow.ts')).perform(file, options)));

  describe(
    program.command('restore-book'),
    'stores a deleted book again, as it was, under its ID',
    'Prints the book as JSON. The service needs a history: see HISTORY.',
  )
    .argument('<ID>')
    .option('--url <URL>', URL_HELP)
    .action(async (id, options) => end((await import('./commands/restore-book.ts')).perform(id, options)));

  describe(
    program.command('mcp'),
    'lets an assistant read the books of a running service, by the Model Context Protocol',
    'The program of the assistant starts it, and talks to it on standard input and output: docs/assistants.md. It signs its tokens with \
SECRET_TOKEN, or sends BOOKKEEPING_TOKEN if that is set; with a read-only one nothing can be changed.',
  )
    .option('--url <URL>', URL_HELP)
    .option('--allow-changes', 'lets the assistant add, update, delete and restore books, too')
    .action(async (options) => end((await import('../../mcp/command.ts')).perform(options)));

  describe(
    program.command('backup'),
    'copies a SQLite store, also while a service writes to it',
    `The copy is a snapshot, and its integrity is checked before it gets its name. An existing FILE is not overwritten. bookkeeping \
restore puts it back. PostgreSQL has a tool of its own:

  pg_dump --format=custom --file=FILE DATABASE`,
  )
    .argument('<FILE>')
    .action(async (file) => end((await import('./commands/backup.ts')).perform(file)));

  describe(
    program.command('restore'),
    'replaces a SQLite store with a backup; stop the service before',
    `FILE is copied, and the copy is checked before it atomically replaces the store of DB_URL. The old store is kept beside it, as \
NAME.before-restore. Do not copy a backup over the file of a store yourself: SQLite would apply the log of the old store (-wal) to it. \
PostgreSQL has a tool of its own:

  pg_restore --clean --if-exists --dbname=DATABASE FILE`,
  )
    .argument('<FILE>')
    .action(async (file) => end((await import('./commands/restore.ts')).perform(file)));

  describe(program.command('help'), 'describes all commands, or one', 'The same as --help.')
    .argument('[COMMAND]')
    .option('--man', 'prints the manual page: bookkeeping help --man > bookkeeping.1')
    .action((name, options) => {
      const command = name === undefined ? program : program.commands.find((known) => known.name() === name);
      if (!command) throw new UsageError(`unknown command '${name}'; see bookkeeping --help`);
      if (options.man) console.log(manualPage(program, EXIT_CODE_HELP));
      else command.outputHelp();
    });
  return program;
}

/** Gives a command a line in the help of all, and the paragraphs of its own. */
function describe(command: Command, summary: string, details: string): Command {
  return command.summary(summary).description(`${summary}\n\n${details}`);
}
