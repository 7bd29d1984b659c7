import { type Command, CommanderError } from 'commander';
import { StoreUnavailable, TableRejection } from '../book/book-store.ts';
import { ConfigError } from '../config/config.ts';
import { StoreNotReady } from '../store/errors.ts';
import { CommandError, EXIT_CODES, UsageError } from './exits.ts';
import { createProgram } from './program.ts';

/** Runs the arguments after `bookkeeping`. @returns the exit code; see {@link EXIT_CODES} */
export async function run(args: readonly string[]): Promise<number> {
  exitOnClosedOutput();
  let exitCode: number = EXIT_CODES.success;
  const program = createProgram(async (code) => {
    exitCode = await code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    const reason = error instanceof CommanderError ? toUsageError(error, program, args) : error;
    if (!reason) return EXIT_CODES.success;
    console.error(`bookkeeping: ${explain(reason)}`);
    return reason instanceof UsageError ? EXIT_CODES.usage : EXIT_CODES.failure;
  }
}

/** One line, with the help to read. @returns undefined when commander has printed the help or the version */
function toUsageError(
  { exitCode, message }: CommanderError,
  program: Command,
  [name]: readonly string[],
): UsageError | undefined {
  if (exitCode === 0) return undefined;
  const command = program.commands.find((known) => known.name() === name);
  const help = command ? `bookkeeping ${command.name()} --help` : 'bookkeeping --help';
  const problem = message
    .replace(/^error: /, '')
    .replace(/\.?$/, '')
    .replaceAll('\n', ' ');
  return new UsageError(`${problem}; see ${help}`);
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
