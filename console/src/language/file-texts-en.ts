import type { Field } from '../../../src/formats/row.ts';

/** Books, as many as they are; the number is formatted. */
export type Counted = (count: number, formatted: string) => string;

const books: Counted = (count, formatted) => (count === 1 ? '1 book' : `${formatted} books`);
const rows: Counted = (count, formatted) => (count === 1 ? '1 row' : `${formatted} rows`);

/** The texts of import and export in English; other languages have the same. */
export const en = {
  importBooks: 'Import books',
  dropHint: 'Drop a file here, or choose one.',
  kinds: 'CSV, as spreadsheet programs save it, JSON or NDJSON.',
  chooseFile: 'Choose a file',
  chooseAnother: 'Another file',
  reading: (name: string) => `Reading ${name} …`,
  problems: {
    workbook:
      'This is a workbook of a spreadsheet program. Open it there, save the sheet as CSV, and import that.',
    binary: 'This is not a text file. Books can be read from CSV, JSON and NDJSON.',
    'not-utf8': 'This JSON file is not in UTF-8, as it should be. Save it anew in UTF-8.',
    'no-array': 'This JSON file does not begin with a list of books: with “[”.',
    'no-rows': 'There are no books in this file.',
    gone: 'The file cannot be read. Perhaps it has been changed, moved or locked since; choose it again.',
    several: 'Import one file at a time.',
  },

  columns: 'Which column is what?',
  none: 'leave empty',
  hasHeader: 'The first row names the columns',
  fields: { title: 'Title', author: 'Author', year: 'Year' } satisfies Record<Field, string>,
  preview: 'The first rows, as they will be imported',
  line: 'Line',
  western:
    'The file is not in UTF-8. It has been read as Windows-1252: please look whether all letters are right.',
  checking: 'Checking the rows …',
  allGood: (count: number, formatted: string) => `${books(count, formatted)} can be imported.`,
  nothingGood: 'No row of this file can be imported like this. Perhaps the columns are others?',
  badRows: (count: number, formatted: string) =>
    count === 1
      ? '1 row is no book and will be left out.'
      : `${formatted} rows are no books and will be left out.`,
  skipKnown: 'Skip books that are there already',
  looking: 'Looking which books are there already …',
  known: (count: number, formatted: string) =>
    `${books(count, formatted)} ${count === 1 ? 'is' : 'are'} there already (same title, author and year) and will be skipped.`,
  notLooked: (why: string) => `It is not known which books are there already. ${why}`,
  badShown: (formatted: string) => `These are the first ${formatted}; the report has all of them.`,
  showBad: 'Show them',
  atLine: (line: string) => `Line ${line}`,
  atElement: (element: string) => `element ${element}`,
  saveReport: 'Save a report',
  reportName: 'rows left out',
  reason: 'Reason',
  row: 'Row',
  start: (count: number, formatted: string) => `Import ${books(count, formatted)}`,
  cancel: 'Cancel',

  progress: (stored: string, total: string) => `${stored} of ${total} books`,
  pace: (perSecond: string) => `${perSecond} a second`,
  left: (seconds: number) => (seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`),
  phases: {
    sending: 'The books are being stored.',
    away: 'The service does not answer. The import waits for it, and goes on by itself.',
    doubt:
      'The service was away while books were being stored. To store nothing twice, the import looks for them first; that takes up to 15 seconds.',
  },
  stop: 'Stop',
  stopping: 'Stopping …',

  done: (count: number, formatted: string) =>
    count === 1 ? '1 book is stored.' : `${formatted} books are stored.`,
  leftOut: (count: number, formatted: string) =>
    `${rows(count, formatted)} ${count === 1 ? 'was' : 'were'} left out. The report says why.`,
  skipped: (count: number, formatted: string) =>
    `${books(count, formatted)} ${count === 1 ? 'was' : 'were'} there already and skipped.`,
  stopped: (stored: string, total: string) => `Stopped: ${stored} of ${total} books are stored.`,
  doubtful: (first: string, last: string) =>
    `It is not known whether the books of the lines ${first} to ${last} are stored. Going on finds out, and stores nothing twice.`,
  refused: (first: string, last: string, why: string) =>
    `The books of the lines ${first} to ${last} have been refused, and none of them is stored. ${why}`,
  failed: 'The import has ended, as the file cannot be read any more.',
  goOn: 'Go on',
  undo: 'Undo the import',
  undoFurther: 'Go on undoing',
  undoing: 'The books of this import are being deleted.',
  undone: (count: number, formatted: string) =>
    `${books(count, formatted)} of this import ${count === 1 ? 'is' : 'are'} deleted.`,
  undoLeft: (count: number, formatted: string) =>
    `${books(count, formatted)} ${count === 1 ? 'is' : 'are'} still there.`,
  kept: (count: number, formatted: string) =>
    count === 1
      ? 'This book has been changed since, and stays:'
      : `These ${formatted} books have been changed since, and stay:`,
  lastImport: (count: number, formatted: string) =>
    `The last import has stored ${books(count, formatted)}. It can be undone.`,
  close: 'Close',

  exportBooks: 'Export books',
  exported: (count: number, formatted: string) =>
    `${books(count, formatted)}: all that are shown now, in this order.`,
  exportedSome: 'All books that are shown now, in this order.',
  formats: { csv: 'CSV', json: 'JSON', ndjson: 'NDJSON' },
  formatHints: {
    csv: 'for spreadsheet programs. Texts that they would run as a formula get an apostrophe in front; an import here takes it away again.',
    json: 'for programs: one list',
    ndjson: 'for programs: one book a line',
  },
  format: 'As what?',
  save: 'Save',
  saving: (count: number, formatted: string) => `${books(count, formatted)} so far`,
  saved: (count: number, formatted: string) =>
    `${books(count, formatted)} ${count === 1 ? 'is' : 'are'} saved.`,
  notSaved: (why: string) => `Nothing is saved. ${why}`,
  diskFault: 'The file could not be written.',
  fileName: 'books',

  faults: {
    'unclosed-quote':
      'A quotation mark opens in this row and is never closed; the rest of the file cannot be read.',
    'not-utf8': 'This is not UTF-8.',
    'not-json': 'This is not JSON.',
    'not-object': 'This is no object with a title, an author and a year.',
    'no-array': 'A list of books has to begin here, with “[”.',
    broken: 'A comma or the end of the list is missing here; the rest of the file cannot be read.',
    'cut-off': 'The file ends in the middle of the list.',
    trailing: 'What stands behind the end of the list is not read.',
    cells: (found: number, expected: number) =>
      `The row has ${found === 1 ? '1 cell' : `${found} cells`}, and the first row ${expected}.`,
    text: (field: Field) => `The ${field} is not a text that can be stored.`,
    year: (value: string) => `The year is not a whole number that can be stored: “${value}”`,
    nothing: 'There is neither a title nor an author nor a year.',
    'book-too-long': 'The row is longer than a book may be (1 MiB).',
    'row-too-long': 'The row is longer than 8 MiB; the rest of the file may be unread.',
  },
};

/** What every language has to say. */
export type Texts = typeof en;
