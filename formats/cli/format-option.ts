import { UsageError } from '../../src/cli/exits.ts';
import { STANDARD_STREAM } from '../../src/cli/files.ts';
import { FORMATS, type Format, formatOfName } from '../file-format.ts';

/** The value of `--format`. @throws UsageError */
export function parseFormat(option: string | undefined): Format | undefined {
  const format = FORMATS.find((name) => name === option);
  if (format || option === undefined) return format;
  throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
}

/** The value of `--format`, or else the format of the extension; CSV for a standard stream. @throws UsageError */
export function formatOf(path: string, option: string | undefined): Format {
  const given = parseFormat(option);
  if (given) return given;
  const format = path === STANDARD_STREAM ? 'csv' : formatOfName(path);
  if (format) return format;
  throw new UsageError(`the extension of ${path} is no known format; use --format ${FORMATS.join('|')}`);
}
