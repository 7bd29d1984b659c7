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
}

export interface ParsedArguments<C extends Command = Command> {
  readonly file: C extends { readonly file: 'required' } ? string : string | undefined;
  readonly options: {
    readonly [Name in keyof C['options']]?: C['options'][Name] extends { readonly value: string }
      ? string
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
  for (const [option, { value }] of Object.entries(options)) {
    config[option] = { type: value === undefined ? 'boolean' : 'string' };
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
    const unknown = /^Unknown option '--(.*)'/.exec(problem)?.[1];
    const suggestion = unknown === undefined ? '' : suggest(unknown, Object.keys(config), '--');
    throw new UsageError(`${name}: ${problem}${suggestion}; see bookkeeping ${name} --help`);
  }
}

/** @returns a suggestion of the most similar candidate, or an empty text if none is similar */
export function suggest(word: string, candidates: readonly string[], prefix = ''): string {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(1, candidate.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return best ? `; did you mean ${prefix}${best.candidate}?` : '';
}

/** The Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [left = 0, above = 0, diagonal = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, diagonal + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
