import { BOOK_COLUMNS, HAS_EXACT_ID, TEXT_BYTES } from '../../store/sqlite/book-columns.ts';
import type { SearchQuery } from '../book-search.ts';
import { fieldCondition, hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { AccessPath, Dialect, Paths } from '../snapshot.ts';
import { type IsCommon, trigramsQueryOf, wordsQueryOf } from './trigrams.ts';

/** @param isCommon of beginnings of words that are longer than three characters */
export function sqliteDialect(isCommon: IsCommon): Dialect {
  return { ...SQLITE_DIALECT, pathsById: (query, needles) => pathsById(query, needles, isCommon) };
}

export const SQLITE_DIALECT: Dialect = {
  parameterSign: '?',
  placeFunction: 'instr',
  wordsEnd: 'char(1)',
  allBooks: `(select ${BOOK_COLUMNS}, ${TEXT_BYTES} as bytes from books where ${HAS_EXACT_ID})`,
  accessPaths,
  // Candidates are ids alone, as SQLite would copy their texts. `cross join` makes it read the candidates first.
  candidates: 'candidates cross join book_search as found using (id)',
  countedMax: 5_000,
};

/**
 * Example: `q=river lis&title=ver of&year=1999` has the candidates of the words `"river"* AND "lis"*`, those of the trigrams
 * `"ver" AND " of"`, and the books of 1999.
 */
function accessPaths(query: SearchQuery, needles: Needles | undefined): AccessPath[] {
  return [...ftsPaths(needles), ...fieldPaths(query)];
}

/** FTS5 finds ids in their order. */
function pathsById(query: SearchQuery, needles: Needles | undefined, isCommon: IsCommon): Paths | undefined {
  const paths = ftsPaths(needles, isCommon);
  const ordered = paths.pop();
  return ordered && { ordered, others: [...paths, ...fieldPaths(query)] };
}

function ftsPaths(needles: Needles | undefined, isCommon?: IsCommon): AccessPath[] {
  const paths: AccessPath[] = [];
  for (const [table, ftsQuery] of [
    ['book_words', wordsQueryOf(needles, isCommon)],
    ['book_trigrams', trigramsQueryOf(needles)],
  ]) {
    if (ftsQuery === undefined) continue;
    paths.push(
      (parameters) => `select rowid as id from ${table} where ${table} match ${parameters.add(ftsQuery)}`,
    );
  }
  return paths;
}

function fieldPaths(query: SearchQuery): AccessPath[] {
  if (!hasFieldCondition(query)) return [];
  return [(parameters) => `select id from book_search where ${fieldCondition(query, parameters)}`];
}
