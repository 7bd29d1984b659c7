import { exact, HAS_EXACT_ID, textBytes } from '../../store/postgres/book-columns.ts';
import type { SearchQuery } from '../book-search.ts';
import { fieldCondition, hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { AccessPath, Dialect } from '../snapshot.ts';
import { neededTrigramsOf, rarestTrigrams } from './trigrams.ts';

export const POSTGRES_DIALECT: Dialect = {
  parameterSign: '$',
  placeFunction: 'strpos',
  wordsEnd: String.raw`E'\x01'`,
  allBooks: `(
    select id, coalesce(title, '') as title, coalesce(author, '') as author, ${exact('year')} as year,
      ${textBytes()} as bytes
    from books where ${HAS_EXACT_ID}
  ) as all_books`,
  accessPaths,
  candidates: 'candidates as found',
  countedMax: 20_000,
};

/** Example: `q=river&year=1999` has the candidates with the trigrams of “  river”, and the books of 1999. */
function accessPaths(query: SearchQuery, needles: Needles | undefined): AccessPath[] {
  const trigrams = neededTrigramsOf(needles);
  const paths: AccessPath[] = [];
  if (trigrams.some((ofWord) => ofWord.length > 0))
    paths.push((parameters) => candidatesOf(`trigrams @> ${rarestTrigrams(trigrams, parameters)}`));
  if (hasFieldCondition(query)) paths.push((parameters) => candidatesOf(fieldCondition(query, parameters)));
  return paths;
}

/** All columns but the trigrams. Of long texts, PostgreSQL keeps only references. */
function candidatesOf(condition: string): string {
  return `
    select id, title_key, author_key, twin_key, year, bytes, title_lower, author_lower, words
    from book_search where ${condition}`;
}
