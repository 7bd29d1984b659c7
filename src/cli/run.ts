import { StoreUnavailable } from '../book/book.ts';
import { ConfigError } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { StoreNotReady } from '../store/store-errors.ts';
import { readArguments, UsageError } from './arguments.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { CommandFailed, EXIT_CODES } from './exit.ts';
import { helpAbout, helpAboutAll } from './help.ts';

/**
 * Runs a command of the command line. What it is for goes to standard output, what people should know to standard
 * error.
 *
 * @param args what stands behind `bookkeeping`
 * @returns the exit code; see {@link EXIT_CODES}
 */
export async function run(args: readonly string[]): Promise<number> {
  endWithReader();
  try {
    return await follow(args);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`bookkeeping: ${error.message}`);
      return EXIT_CODES.usage;
    }
    console.error(`bookkeeping: ${explain(error)}`);
    return EXIT_CODES.failure;
  }
}

async function follow([name = '', ...rest]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h') return print(helpAboutAll());
  if (name === '--version') return print(readVersion());
  if (name.startsWith('-')) throw new UsageError(`unknown option ${name}; see bookkeeping --help`);
  if (!isCommand(name)) throw new UsageError(`unknown command ${name}; see bookkeeping --help`);
  const command = COMMANDS[name];
  const given = readArguments(name, command, rest);
  if (given.options.help) return print(helpAbout(name, command));
  const { perform } = await command.load();
  return perform(given);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function print(text: string): number {
  console.log(text);
  return EXIT_CODES.success;
}

/** Who reads our output may have enough of it, as `head` does: that is no fault, and nothing more can be said. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT_CODES.brokenPipe);
      throw error;
    });
  }
}

/** One line for what people can mend, and the stack of what is a defect. */
function explain(error: unknown): string {
  const isForPeople =
    error instanceof CommandFailed ||
    error instanceof ConfigError ||
    error instanceof StoreNotReady ||
    error instanceof StoreUnavailable;
  if (isForPeople) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
