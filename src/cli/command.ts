import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** A command; its arguments are parsed, and its help is written, according to this. */
export interface Command {
  /** One line. */
  readonly summary: string;
  /** Whether it takes the operand FILE; absent when it takes no operand. */
  readonly file?: 'required' | 'optional';
  /** The name of the operand, if not FILE. */
  readonly operand?: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly details: string;
}

interface Option {
  readonly description: string;
  /** The name of its value in the help; absent for a flag. */
  readonly value?: string;
  /** Whether it may be given several times. */
  readonly isRepeatable?: true;
}

export interface ParsedArguments<C extends Command = Command> {
  readonly file: C extends { readonly file: 'required' } ? string : string | undefined;
  readonly options: {
    readonly [Name in keyof C['options']]?: C['options'][Name] extends { readonly value: string }
      ? C['options'][Name] extends { readonly isRepeatable: true }
        ? readonly string[]
        : string
      : boolean;
  };
}

export const EXIT_CODES = {
  success: 0,
  /** The command failed, or did only a part of its work. */
  failure: 1,
  /** The command line is invalid; nothing was done. */
  usage: 2,
  /** 128 and the number of SIGINT, as in shells. */
  interrupted: 130,
  /** Standard output or standard error was closed: 128 and the number of SIGPIPE. */
  brokenPipe: 141,
} as const;

/** The command line is invalid. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work. The message is one line for the user, without secrets. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Parses the arguments after the name of a command. @returns undefined for `--help` @throws UsageError */
export function parseArguments<C extends Command>(
  name: string,
  { file, operand = 'FILE', options }: C,
  args: readonly string[],
): ParsedArguments<C> | undefined {
  const config: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } };
  for (const [option, { value, isRepeatable = false }] of Object.entries(options)) {
    config[option] = { type: value === undefined ? 'boolean' : 'string', multiple: isRepeatable };
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: config, allowPositionals: true });
    if (values.help) return undefined;
    const surplus = positionals[file === undefined ? 0 : 1];
    if (surplus !== undefined) throw new Error(`unexpected argument ${surplus}`);
    if (file === 'required' && positionals.length === 0) throw new Error(`${operand} is missing`);
    return { file: positionals[0], options: values } as ParsedArguments<C>;
  } catch (error) {
    // The first sentence of `parseArgs` names the problem; the rest is advice on dashes.
    const [problem = ''] = (error as Error).message.split(/\.\s/);
    throw new UsageError(`${name}: ${problem}; see bookkeeping ${name} --help`);
  }
}
