import { FIELDS, type Field } from './row.ts';

/** The column, or JSON member, of each field. A field without one is empty, or 0. */
export type Mapping = Readonly<Record<Field, string | undefined>> & {
  /** By default, ids are not read. */
  readonly id?: string | undefined;
};

/** The most likely first, in several languages and in the exports of Goodreads, LibraryThing, BookWyrm and Calibre. */
const NAMES: Readonly<Record<Field, string>> = {
  title: 'title titel booktitle buchtitel originaltitle titre titulo titolo name',
  author: 'author authors primaryauthor authortext autor autoren verfasser auteur autore writer creator by',
  year: `year jahr originalpublicationyear publicationyear publishedyear yearpublished pubyear erscheinungsjahr annee ano
    anno published pubdate publisheddate publicationdate date`,
};

/** If no column has one of those names, a column whose name contains one of these words is used. */
const WORDS: Readonly<Record<Field, RegExp>> = {
  title: /title|titel|titre|titulo|titolo/,
  author: /author|autor|auteur|verfasser/,
  year: /year|jahr|annee/,
};

/** Guesses columns by their names. @param given fields that are not guessed; their columns are not used for others */
export function guessMapping(columns: readonly string[], given: Partial<Mapping> = {}): Mapping {
  const mapping: Partial<Record<Field | 'id', string | undefined>> = { ...given };
  for (const field of FIELDS) {
    if (field in given) continue;
    const used = Object.values(mapping);
    const names = columns.map((column) => (used.includes(column) ? '' : normalize(column)));
    const known = NAMES[field].split(/\s+/).find((name) => names.includes(name));
    const isMatch = (name: string) => (known === undefined ? WORDS[field].test(name) : name === known);
    mapping[field] = columns[names.findIndex(isMatch)];
  }
  return mapping as Mapping;
}

/**
 * The column of the year for rows in which that of `mapping` is empty: Goodreads has the original year of some books only,
 * and the year of the edition of nearly all.
 */
export function otherYearColumn(columns: readonly string[], { year = '' }: Mapping): string | undefined {
  if (normalize(year) !== 'originalpublicationyear') return undefined;
  return columns.find((column) => normalize(column) === 'yearpublished');
}

function normalize(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
