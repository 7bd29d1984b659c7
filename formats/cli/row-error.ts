import { ID_MAX } from '../../src/book/book.ts';
import { TEXT_LENGTH_MAX } from '../../src/book/contract.ts';
import type { Mapping } from '../mapping.ts';
import { DEPTH_MAX, FIELDS, ROW_SIZE_MAX, type RowError } from '../row.ts';

const MESSAGES = {
  'not-utf8': 'it is not UTF-8, unlike the rest of the file',
  'not-json': 'it is not JSON',
  'too-deep': `its arrays and objects are nested deeper than ${DEPTH_MAX}`,
  'not-object': 'it is not a JSON object',
  empty: `${new Intl.ListFormat('en-GB').format(FIELDS)} are empty`,
  'row-too-long': `it is longer than ${ROW_SIZE_MAX}`,
  'unclear-quote':
    'its quotation marks are unclear: one that begins a value must end it too, and one inside is doubled ("")',
  'no-array': 'a JSON array or object must begin here; the rest was not read',
  malformed: 'the JSON array is malformed here; the rest was not read',
  truncated: 'the file ends within its array',
  trailing: 'there is text after the array; it was not read',
} as const;

/** The message for a bad row, with the names of its columns. */
export function describeRowError(error: RowError, mapping?: Mapping): string {
  switch (error.kind) {
    case 'cell-count':
      return `it has ${error.found} ${error.found === 1 ? 'value' : 'values'}, and the first line ${error.expected}`;
    case 'text':
      return `${mapping?.[error.field]} is not a text of well-formed Unicode without U+0000`;
    case 'text-too-long':
      return `${mapping?.[error.field]} has more than ${TEXT_LENGTH_MAX[error.field]} characters`;
    case 'year':
      return `${mapping?.year} is not the year of a book: ${JSON.stringify(error.value)}`;
    case 'id':
      return `${mapping?.id} is not a whole number from 1 to ${ID_MAX}: ${JSON.stringify(error.value)}`;
    case 'id-unknown':
      return `no book has the id ${error.id}: it was deleted, or it is of another store`;
    case 'id-repeated':
      return `an earlier row has the id ${error.id}`;
    default:
      return MESSAGES[error.kind];
  }
}
