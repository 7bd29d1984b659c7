import { StoreUnavailable } from '../book/book-store-interface.ts';
import { ConfigError } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { StoreNotReady } from '../store/store-errors.ts';
import { CommandError, EXIT_CODES, parseArguments, UsageError } from './command.ts';
import { type ArgumentsOf, COMMANDS, type CommandName } from './commands.ts';
import { helpOf, helpOfAll } from './help.ts';

interface Module<Name extends CommandName> {
  /** @returns the exit code */
  readonly perform: (args: ArgumentsOf<Name>) => Promise<number>;
}

/** Each command is loaded when it runs. */
const MODULES: { readonly [Name in CommandName]: () => Promise<Module<Name>> } = {
  serve: () => Promise.reject(new CommandError('src/main.ts starts the service')),
  token: () => import('./commands/token.ts'),
  check: () => import('./commands/check.ts'),
  import: () => import('./commands/import.ts'),
  export: () => import('./commands/export.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
};

/**
 * Runs a command. Results go to standard output, messages to standard error.
 *
 * @param args the arguments after `bookkeeping`
 * @returns the exit code; see {@link EXIT_CODES}
 */
export async function run([name = '', ...rest]: readonly string[]): Promise<number> {
  exitOnClosedOutput();
  try {
    if (name === '--help' || name === '-h') return print(helpOfAll());
    if (name === '--version') return print(readVersion());
    if (name.startsWith('-')) throw new UsageError(`unknown option ${name}; see bookkeeping --help`);
    if (!isCommand(name)) throw new UsageError(`unknown command ${name}; see bookkeeping --help`);
    return await runCommand(name, rest);
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

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function print(text: string): number {
  console.log(text);
  return EXIT_CODES.success;
}

/** A reader such as `head` may close our output early, which is no error and cannot be reported. */
function exitOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_CODES.brokenPipe);
      throw error;
    });
  }
}

/** One line for an expected error, the stack of any other. */
function explain(error: unknown): string {
  const isExpected =
    error instanceof UsageError ||
    error instanceof CommandError ||
    error instanceof ConfigError ||
    error instanceof StoreNotReady ||
    error instanceof StoreUnavailable;
  if (isExpected) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
