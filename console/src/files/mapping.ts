import type { BookFields } from '../../../src/client/index.ts';

/** The fields of a book that a file can fill, in the order in which people read them. */
export const FIELDS = ['title', 'author', 'year'] as const satisfies readonly (keyof BookFields)[];
export type Field = (typeof FIELDS)[number];

/** Which column fills which field; one that none fills is empty, or 0. */
export type Mapping = Readonly<Record<Field, string | undefined>>;

/** How columns are named that hold a field, the likeliest first, in the languages of their authors. */
const NAMES: Readonly<Record<Field, readonly string[]>> = {
  title: ['title', 'titel', 'booktitle', 'buchtitel', 'originaltitle', 'titre', 'titulo', 'titolo', 'name'],
  author: [
    'author',
    'authors',
    'autor',
    'autoren',
    'verfasser',
    'auteur',
    'autore',
    'writer',
    'creator',
    'by',
  ],
  year: [
    'year',
    'jahr',
    'originalpublicationyear',
    'publicationyear',
    'publishedyear',
    'yearpublished',
    'pubyear',
    'erscheinungsjahr',
    'annee',
    'ano',
    'anno',
    'published',
  ],
};

/** Guesses by their names which columns hold what: by a name that is known, or else one that contains a known one. */
export function guessMapping(columns: readonly string[]): Mapping {
  const folded = columns.map((column) => fold(column));
  const find = (field: Field): string | undefined => {
    for (const name of NAMES[field]) {
      const index = folded.indexOf(name);
      if (index !== -1) return columns[index];
    }
    const words = NAMES[field].filter((name) => name.length >= CONTAINED_LENGTH_MIN);
    return columns[folded.findIndex((column) => words.some((word) => column.includes(word)))];
  };
  return { title: find('title'), author: find('author'), year: find('year') };
}

/** A shorter name occurs in words that mean something else. */
const CONTAINED_LENGTH_MIN = 4;

function fold(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
