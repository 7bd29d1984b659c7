import { FORMATS, type Format, formatOfName } from '../../formats/file-format.ts';
import { UsageError } from '../command.ts';

/** The path that means standard input or output. */
export const STANDARD_STREAM = '-';

/**
 * The format of a file: the value of `--format`, or else the one of its extension; CSV for a standard stream.
 *
 * @throws UsageError when there is none
 */
export function formatOf(path: string, option: string | undefined): Format {
  if (option !== undefined) {
    const format = FORMATS.find((name) => name === option);
    if (!format) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
    return format;
  }
  const format = path === STANDARD_STREAM ? 'csv' : formatOfName(path);
  if (!format)
    throw new UsageError(`the extension of ${path} is no known format; use --format ${FORMATS.join('|')}`);
  return format;
}
