import { StoreUnavailable, TableRejection } from '../book/book-store.ts';
import { ConfigError } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { StoreNotReady } from '../store/errors.ts';
import { CommandError, EXIT_CODES, parseArguments, UsageError } from './command.ts';
import { type ArgumentsOf, COMMANDS, type CommandName } from './commands.ts';
import { helpOf, helpOfAll } from './help.ts';

/** The modules of the commands, which are loaded when they run. `perform` returns the exit code. */
const MODULES: {
  readonly [Name in CommandName]: () => Promise<{
    readonly perform: (args: ArgumentsOf<Name>) => Promise<number>;
  }>;
} = {
  serve: () => Promise.reject(new CommandError('src/main.ts starts the service')),
  token: () => import('./commands/token.ts'),
  check: () => import('./commands/check.ts'),
  import: () => import('../../formats/cli/import.ts'),
  export: () => import('../../formats/cli/export.ts'),
  follow: () => import('../../web-hook/follow.ts'),
  'restore-book': () => import('./commands/restore-book.ts'),
  mcp: () => import('../../mcp/command.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  help: () => import('./help.ts'),
};

/** Runs a command with the arguments after `bookkeeping`. @returns the exit code; see {@link EXIT_CODES} */
export async function run([name = '', ...rest]: readonly string[]): Promise<number> {
  exitOnClosedOutput();
  try {
    if (name === '--help' || name === '-h') return print(helpOfAll());
    if (name === '--version' || name === '-v') return print(readVersion());
    if (name.startsWith('-')) throw new UsageError(`unknown option ${name}; see bookkeeping --help`);
    if (!Object.hasOwn(COMMANDS, name))
      throw new UsageError(`unknown command ${name}; see bookkeeping --help`);
    return await runCommand(name as CommandName, rest);
  } catch (error) {
    console.error(`bookkeeping: ${explain(error)}`);
    return error instanceof UsageError ? EXIT_CODES.usage : EXIT_CODES.failure;
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it relates the arguments of a command to its module
async function runCommand<Name extends CommandName>(name: Name, args: readonly string[]): Promise<number> {
  const parsed = parseArguments(name, COMMANDS[name], args);
  if (!parsed) return print(helpOf(name, COMMANDS[name]));
  const { perform } = await MODULES[name]();
  return perform(parsed);
}

function print(text: string): number {
  console.log(text);
  return EXIT_CODES.success;
}

/** A reader such as `head` may close standard output early, which is not an error. */
function exitOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_CODES.brokenPipe);
      throw error;
    });
  }
}

const EXPECTED_ERRORS = [
  UsageError,
  CommandError,
  ConfigError,
  StoreNotReady,
  StoreUnavailable,
  TableRejection,
];

/** One line for an expected error, the stack of any other. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = EXPECTED_ERRORS.some((type) => error instanceof type);
  return isExpected ? error.message : (error.stack ?? error.message);
}
