/** The types of the contract that the service shares with its client, the command line and the console. */

/** A book as it is stored and sent, with its keys in this order. */
export interface Book {
  /** Assigned by the store, 1 to 9007199254740991; never reused. */
  readonly id: number;
  readonly title: string;
  readonly author: string;
  /** Negative before the common era; within ±9007199254740991. */
  readonly year: number;
}

/** The fields of a book that a client can set. */
export type BookFields = Omit<Book, 'id'>;

/** The values of absent fields. */
export const EMPTY_BOOK: BookFields = { title: '', author: '', year: 0 };

/** The types of the fields, in the order of {@link Book}. */
export const BOOK_FIELD_TYPES = { title: 'text', author: 'text', year: 'integer' } as const satisfies Record<
  keyof BookFields,
  'text' | 'integer'
>;
export type FieldName = keyof typeof BOOK_FIELD_TYPES;
export const FIELD_NAMES = Object.keys(BOOK_FIELD_TYPES) as FieldName[];
/** Those of its texts. */
export type TextName = {
  [Name in FieldName]: (typeof BOOK_FIELD_TYPES)[Name] extends 'text' ? Name : never;
}[FieldName];
/** The fields of a book that are texts. */
export const TEXT_NAMES = FIELD_NAMES.filter((name) => BOOK_FIELD_TYPES[name] === 'text') as TextName[];

/** Those that are integers. */
export const INTEGER_NAMES = FIELD_NAMES.filter((name) => BOOK_FIELD_TYPES[name] === 'integer');

/**
 * The most characters (code points) of each text that the service takes; a whole field of MARC 21 has at most 9,999 bytes. Stores may
 * have longer texts from before.
 */
export const TEXT_LENGTH_MAX: Readonly<Record<TextName, number>> = { title: 4_096, author: 4_096 };

/** The first of the texts that has more characters than {@link TEXT_LENGTH_MAX}. */
export function findLongText(fields: Partial<BookFields>): TextName | undefined {
  return TEXT_NAMES.find((name) => isLonger(fields[name] ?? '', TEXT_LENGTH_MAX[name]));
}

/** A code point has one or two UTF-16 code units. */
function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || Array.from(text).length > max;
}

/** The fields of a book alone, without its id and what else comes with it. */
export function fieldsOf(book: BookFields): BookFields {
  return Object.fromEntries(FIELD_NAMES.map((name) => [name, book[name]])) as unknown as BookFields;
}

/** The length of the texts of a book, in UTF-16 code units. */
export function textLengthOf(book: Partial<BookFields>): number {
  return TEXT_NAMES.reduce((length, name) => length + (book[name]?.length ?? 0), 0);
}

/** The body of every response, with its keys in this order (specification, "Response envelope"). */
export interface Envelope<Data> {
  readonly status: number;
  readonly message: string;
  readonly data: Data;
}
