import type { Command } from 'commander';
import { readVersion } from '../config/version.ts';

/** The manual page, in the macros of man(7). */
export function manualPage(program: Command, exitCodes: string): string {
  const commands = program.commands.map((command) => {
    const [summary = '', ...details] = command.description().split('\n\n');
    const operands = command.registeredArguments.map((operand) =>
      operand.required ? ` ${operand.name()}` : ` [${operand.name()}]`,
    );
    return [
      `.SS ${roff(command.name() + operands.join(''))}`,
      roff(summary),
      ...command.options.map(({ flags, description }) => `.TP\n.B ${roff(flags)}\n${roff(description)}`),
      ...details.map((paragraph) => `.PP\n${roff(paragraph)}`),
    ].join('\n');
  });
  return `.TH BOOKKEEPING 1 "" "bookkeeping ${readVersion()}"
.SH NAME
bookkeeping \\- a service that keeps book records, and its tools
.SH SYNOPSIS
.B bookkeeping
[options] [command]
.SH COMMANDS
${commands.join('\n')}
.SH EXIT STATUS
${roff(exitCodes)}`;
}

/** A text without the control characters of roff. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
