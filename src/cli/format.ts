import { extname } from 'node:path';
import { UsageError } from './arguments.ts';

/** The formats of files with books, each with the endings of its files. */
const ENDINGS = { csv: ['.csv'], json: ['.json'], ndjson: ['.ndjson', '.jsonl'] } as const;

export type Format = keyof typeof ENDINGS;

/** What stands for standard input or output. */
export const STANDARD_STREAM = '-';

/**
 * The format of a file: what is said, else what its ending says; CSV for a standard stream.
 *
 * @throws UsageError when that is none
 */
export function formatOf(path: string, said: string | undefined): Format {
  const formats = Object.keys(ENDINGS) as Format[];
  if (said !== undefined) {
    const format = formats.find((name) => name === said);
    if (!format) throw new UsageError(`--format must be one of ${formats.join(', ')}`);
    return format;
  }
  if (path === STANDARD_STREAM) return 'csv';
  const ending = extname(path).toLowerCase();
  const format = formats.find((name) => (ENDINGS[name] as readonly string[]).includes(ending));
  if (!format)
    throw new UsageError(`the ending of ${path} names no format; say --format ${formats.join('|')}`);
  return format;
}
