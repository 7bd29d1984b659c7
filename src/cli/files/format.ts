import { FORMATS, type Format, formatOfName } from '../../formats/file-format.ts';
import { UsageError } from '../arguments.ts';

/** What stands for standard input or output. */
export const STANDARD_STREAM = '-';

/**
 * The format of a file: the one given, or else that of its extension; CSV for a standard stream.
 *
 * @throws UsageError when that is none
 */
export function formatOf(path: string, given: string | undefined): Format {
  if (given !== undefined) {
    const format = FORMATS.find((name) => name === given);
    if (!format) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
    return format;
  }
  const format = path === STANDARD_STREAM ? 'csv' : formatOfName(path);
  if (!format)
    throw new UsageError(`the ending of ${path} names no format; say --format ${FORMATS.join('|')}`);
  return format;
}
