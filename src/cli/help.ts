import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';

/** What the command line is, with all commands. */
export function helpAboutAll(): string {
  const commands = Object.entries<Command>(COMMANDS).map(
    ([name, command]): Line => [synopsisOf(name, command), command.summary],
  );
  return `A service that keeps book records, and its tools.

  bookkeeping [COMMAND] [OPTIONS]

${table(commands)}

  bookkeeping COMMAND --help tells more; bookkeeping --version tells the version.

All read the configuration of the service: environment variables, then .env in the working directory.

${EXIT_CODE_HELP}`;
}

/** What one command is. */
export function helpAbout(name: string, command: Command): string {
  const options = Object.entries(command.options).map(
    ([option, { value, meaning }]): Line => [`--${option}${value === undefined ? '' : ` ${value}`}`, meaning],
  );
  const usage = `bookkeeping ${synopsisOf(name, command)}${options.length > 0 ? ' [OPTIONS]' : ''}`;
  return [
    `${usage}\n${command.summary}`,
    ...(options.length > 0 ? [table(options)] : []),
    command.notes,
    EXIT_CODE_HELP,
  ].join('\n\n');
}

const EXIT_CODE_HELP = `Exit code: 0 when all went well, 1 when something did not, 2 when the command line cannot be followed, 130 when
interrupted, 141 when nobody reads the output any more.`;

type Line = readonly [term: string, meaning: string];

function synopsisOf(name: string, { operands }: Command): string {
  return [name, ...operands.map((operand) => (operand.isRequired ? operand.name : `[${operand.name}]`))].join(
    ' ',
  );
}

function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([term]) => term.length)) + 2;
  return lines.map(([term, meaning]) => `  ${term.padEnd(width)}${meaning}`).join('\n');
}
