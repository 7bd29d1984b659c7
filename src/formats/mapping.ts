import { FIELDS, type Field } from './row.ts';

/** Which column, or member of an object, has which field. A field without one is empty, or 0. */
export type Mapping = Readonly<Record<Field, string | undefined>> & {
  /** Where ids are read; by default books have none. */
  readonly id?: string | undefined;
};

/**
 * The names of columns, the likeliest first, in several languages and in the exports of Goodreads (Original Publication
 * Year, Year Published), LibraryThing (Primary Author, Date), BookWyrm (author_text) and Calibre (authors, pubdate).
 */
const NAMES: Readonly<Record<Field, readonly string[]>> = {
  title: 'title titel booktitle buchtitel originaltitle titre titulo titolo name'.split(' '),
  author:
    'author authors primaryauthor authortext autor autoren verfasser auteur autore writer creator by'.split(
      ' ',
    ),
  year: [
    ...'year jahr originalpublicationyear publicationyear publishedyear yearpublished pubyear'.split(' '),
    ...'erscheinungsjahr annee ano anno published pubdate publisheddate publicationdate date'.split(' '),
  ],
};

/** A column whose name contains one of these has the field, when no column has one of the names above. */
const WORDS: Readonly<Record<Field, RegExp>> = {
  title: /title|titel|titre|titulo|titolo/,
  author: /author|autor|auteur|verfasser/,
  year: /year|jahr|annee/,
};

/**
 * Guesses by their names which columns have which fields.
 *
 * @param given fields that are not guessed; a column that one of them has is not guessed for another
 */
export function guessMapping(columns: readonly string[], given: Partial<Mapping> = {}): Mapping {
  const mapping: Partial<Record<Field | 'id', string | undefined>> = { ...given };
  for (const field of FIELDS) {
    if (!(field in given)) mapping[field] = guess(field, columns, new Set(Object.values(mapping)));
  }
  return mapping as Mapping;
}

function guess(field: Field, columns: readonly string[], taken: ReadonlySet<unknown>): string | undefined {
  const folded = columns.map((column) => (taken.has(column) ? '' : fold(column)));
  const known = NAMES[field].find((name) => folded.includes(name));
  const index =
    known === undefined ? folded.findIndex((column) => WORDS[field].test(column)) : folded.indexOf(known);
  return columns[index];
}

function fold(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
