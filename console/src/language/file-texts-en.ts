import { BOOK_SIZE_MAX, ROW_SIZE_MAX } from '../../../src/formats/row.ts';
import { formatNumber, plural } from './language.ts';

/** The English texts of import and export; other languages have the same keys. */
export const fileTextsEn = {
  importBooks: 'Import books',
  dropHint: 'Drop a file here, or choose one.',
  acceptedFormats: 'CSV, as spreadsheet programs save it, JSON or NDJSON.',
  chooseFile: 'Choose a file',
  chooseAnother: 'Choose another file',
  reading: (name: string) => `Reading ${name} …`,
  problems: {
    workbook: 'This is a spreadsheet workbook. Open it, save the sheet as CSV, and import the CSV file.',
    binary: 'This is not a text file. Books can be imported from CSV, JSON and NDJSON.',
    'not-utf8': 'This JSON file is not encoded in UTF-8. Save it in UTF-8.',
    'no-array': 'This JSON file does not begin with an array of books: with “[”.',
    'no-rows': 'There are no books in this file.',
    unreadable: 'The file cannot be read. It may have been changed, moved or locked; choose it again.',
    multiple: 'Import one file at a time.',
  },

  columnMapping: 'Columns',
  noColumn: 'leave empty',
  hasHeader: 'The first row contains column names',
  preview: 'The first rows as they will be imported',
  line: 'Line',
  windows1252: 'The file is not in UTF-8. It was read as Windows-1252: check the accented letters.',
  checking: 'Checking the rows …',
  validRows: plural('[1 book|# books] can be imported.'),
  noValidRows: 'No row of this file can be imported. Check the columns.',
  invalidRows: plural('[1 row is|# rows are] invalid and will be left out.'),
  skipExisting: 'Skip books that already exist',
  searchingExisting: 'Searching for books that already exist …',
  existing: plural(
    '[1 book exists|# books exist] already (same title, author and year) and will be skipped.',
  ),
  notSearched: (reason: string) => `The search for existing books failed. ${reason}`,
  invalidShown: (count: number) => `These are the first ${formatNumber(count)}; the report has all of them.`,
  showInvalid: 'Show the invalid rows',
  atLine: (line: number) => `Line ${formatNumber(line)}`,
  atElement: (element: number) => `element ${formatNumber(element)}`,
  saveReport: 'Save a report',
  reportName: 'invalid rows',
  reason: 'Reason',
  row: 'Row',
  startImport: plural('Import [1 book|# books]'),

  progress: (done: number, total: number) => `${formatNumber(done)} of ${formatNumber(total)} books`,
  rate: (perSecond: number) => `${formatNumber(perSecond)} per second`,
  timeLeft: (seconds: number) => (seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`),
  phases: {
    sending: 'The books are being stored.',
    waiting: 'The service does not respond. The import waits, and continues by itself.',
    unconfirmed:
      'The service stopped responding while books were being stored. To store nothing twice, the import searches for them first; that takes up to 15 seconds.',
  },
  stop: 'Stop',
  stopping: 'Stopping …',

  done: plural('[1 book is|# books are] stored.'),
  leftOut: plural('[1 row was|# rows were] left out. The report has the reasons.'),
  skipped: plural('[1 book|# books] already existed and [was|were] skipped.'),
  stopped: (stored: number, total: number) =>
    `Stopped: ${formatNumber(stored)} of ${formatNumber(total)} books are stored.`,
  unconfirmed: (first: number, last: number) =>
    `It is not known whether the books of lines ${formatNumber(first)} to ${formatNumber(last)} are stored. Continue to find out; nothing is stored twice.`,
  rejected: (first: number, last: number, reason: string) =>
    `The books of lines ${formatNumber(first)} to ${formatNumber(last)} were rejected, and none of them is stored. ${reason}`,
  failed: 'The import was ended because the file can no longer be read.',
  continue: 'Continue',
  undoImport: 'Undo the import',
  continueUndo: 'Continue to undo',
  undoing: 'The books of this import are being deleted.',
  undone: plural('[1 book of this import is|# books of this import are] deleted.'),
  undoLeft: plural('[1 book is|# books are] not deleted yet.'),
  kept: plural('[This book has|These # books have] been changed since, and [is|are] kept:'),
  lastImport: plural('The last import stored [1 book|# books]. It can be undone.'),

  exportBooks: 'Export books',
  exported: plural('[1 book|# books]: all that are listed now, in this order.'),
  exportedSome: 'All books that are listed now, in this order.',
  formats: { csv: 'CSV', json: 'JSON', ndjson: 'NDJSON' },
  formatHints: {
    csv: 'for spreadsheet programs. Texts that look like a formula get a leading apostrophe; an import removes it.',
    json: 'for programs: one array',
    ndjson: 'for programs: one book per line',
  },
  format: 'Format',
  exportedSoFar: plural('[1 book|# books] so far'),
  exportSaved: plural('[1 book is|# books are] saved.'),
  exportFailed: (reason: string) => `Nothing is saved. ${reason}`,
  diskError: 'The file could not be written.',
  fileName: 'books',

  rowErrors: {
    'unclosed-quote': 'A quotation mark is never closed; the rest of the file cannot be read.',
    'not-utf8': 'This is not UTF-8.',
    'not-json': 'This is not JSON.',
    'not-object': 'This is not an object with a title, an author and a year.',
    'no-array': 'An array of books must begin here, with “[”.',
    malformed: 'A comma or the end of the array is missing here; the rest of the file cannot be read.',
    truncated: 'The file ends before the array does.',
    trailing: 'The file continues after the end of the array; the rest is not read.',
    'cell-count': (found: number, expected: number) =>
      `The row has ${found === 1 ? '1 cell' : `${found} cells`}, and the first row ${expected}.`,
    text: (field: string) => `The content of “${field}” is not a text that can be stored.`,
    year: (value: string) => `The year is not a whole number that can be stored: “${value}”`,
    id: (value: string) => `The id is not a whole number from 1: “${value}”`,
    empty: 'There is no title, no author and no year.',
    'book-too-long': `The row is longer than a book may be (${BOOK_SIZE_MAX}).`,
    'row-too-long': `The row is longer than ${ROW_SIZE_MAX}; the rest of the file may be unread.`,
  },
};

export type FileTexts = typeof fileTextsEn;
