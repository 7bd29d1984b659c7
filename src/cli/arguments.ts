import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Command, Given } from './command.ts';

/** A command line that cannot be followed. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads what stands behind the name of a command. @throws UsageError when it is not what the command takes */
export function readArguments(name: string, { options, operands }: Command, args: readonly string[]): Given {
  const config: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } };
  for (const [option, { value }] of Object.entries(options)) {
    config[option] = { type: value === undefined ? 'boolean' : 'string' };
  }
  const { values, positionals } = parse(name, args, config);
  const given = { options: values as Given['options'], operands: positionals };
  if (given.options.help) return given;
  const missing = operands.slice(positionals.length).find(({ isRequired }) => isRequired);
  if (missing) throw new UsageError(`${name} needs ${missing.name}; see bookkeeping ${name} --help`);
  const surplus = positionals[operands.length];
  if (surplus !== undefined)
    throw new UsageError(`${name} does not take ${surplus}; see bookkeeping ${name} --help`);
  return given;
}

function parse(name: string, args: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Its first sentence says what is wrong; what follows is advice on dashes.
    const [complaint] = (error as Error).message.split(/\.\s/);
    throw new UsageError(`${name}: ${complaint}; see bookkeeping ${name} --help`);
  }
}
