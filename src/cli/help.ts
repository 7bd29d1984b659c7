import { readVersion } from '../config/version.ts';
import { type Command, EXIT_CODES, UsageError } from './command.ts';
import { type ArgumentsOf, COMMANDS } from './commands.ts';

export function perform({ file: name, options }: ArgumentsOf<'help'>): Promise<number> {
  const command = Object.entries<Command>(COMMANDS).find(([known]) => known === name);
  if (name !== undefined && !command) throw new UsageError(`unknown command ${name}; see bookkeeping --help`);
  if (options.man) console.log(manualPage());
  else console.log(command ? helpOf(...command) : helpOfAll());
  return Promise.resolve(EXIT_CODES.success);
}

export function helpOfAll(): string {
  const commands = Object.entries<Command>(COMMANDS).map(
    ([name, command]): Line => [synopsisOf(name, command), command.summary],
  );
  return `A service that keeps book records, and its tools.

  bookkeeping [COMMAND] [OPTIONS]

${table(commands)}

  bookkeeping COMMAND --help describes a command; bookkeeping --version (-v) prints the version.

All commands read the configuration of the service: environment variables, then .env in the working directory.

${EXIT_CODE_HELP}`;
}

export function helpOf(name: string, command: Command): string {
  const options = Object.entries(command.options).map(
    ([option, { value = '', description }]): Line => [`--${option} ${value}`.trimEnd(), description],
  );
  const usage = `bookkeeping ${synopsisOf(name, command)}${options.length > 0 ? ' [OPTIONS]' : ''}`;
  const tables = options.length > 0 ? [table(options)] : [];
  return [`${usage}\n${command.summary}`, ...tables, command.details, EXIT_CODE_HELP].join('\n\n');
}

const EXIT_CODE_HELP = `Exit code: 0 on success, 1 on failure, 2 when the command line is invalid, 130 when interrupted, 141 when standard
output or standard error was closed.`;

type Line = readonly [term: string, description: string];

function synopsisOf(name: string, { file, operand = 'FILE' }: Command): string {
  if (file === undefined) return name;
  return `${name} ${file === 'required' ? operand : `[${operand}]`}`;
}

function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([term]) => term.length)) + 2;
  return lines.map(([term, description]) => `  ${term.padEnd(width)}${description}`).join('\n');
}

/** The manual page, in the macros of man(7). */
function manualPage(): string {
  const commands = Object.entries<Command>(COMMANDS).map(([name, command]) => {
    const options = Object.entries(command.options).map(
      ([option, { value = '', description }]) =>
        `.TP\n.B ${roff(`--${option} ${value}`.trimEnd())}\n${roff(description)}`,
    );
    const details = `.PP\n.nf\n${roff(command.details)}\n.fi`;
    return [`.SS ${roff(synopsisOf(name, command))}\n${roff(command.summary)}`, ...options, details].join(
      '\n',
    );
  });
  return `.TH BOOKKEEPING 1 "" "bookkeeping ${readVersion()}"
.SH NAME
bookkeeping \\- a service that keeps book records, and its tools
.SH SYNOPSIS
.B bookkeeping
[COMMAND] [OPTIONS]
.SH COMMANDS
${commands.join('\n')}
.SH EXIT STATUS
${roff(EXIT_CODE_HELP)}`;
}

/** A text without the control characters of roff. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
