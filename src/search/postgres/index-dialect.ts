import { exact, HAS_EXACT_ID, textBytes } from '../../store/postgres/book-columns.ts';
import type { SearchQuery } from '../book-search.ts';
import { fieldCondition, hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import type { AccessPath, Dialect } from '../snapshot.ts';
import { neededTrigramsOf, selectiveTrigrams } from './trigrams.ts';

export const POSTGRES_DIALECT: Omit<Dialect, 'accessPaths'> = {
  parameterSign: '$',
  placeFunction: 'strpos',
  wordsEnd: String.raw`E'\x01'`,
  allBooks: `(
    select id, coalesce(title, '') as title, coalesce(author, '') as author, ${exact('year')} as year,
      ${textBytes()} as bytes
    from books where ${HAS_EXACT_ID}
  ) as all_books`,
  candidates: 'candidates as found',
  countedMax: 20_000,
};

/**
 * Example: `q=river&year=1999` has the candidates with the trigrams of “  river”, and the books of 1999.
 *
 * @param frequencies see {@link selectiveTrigrams}
 */
export function accessPaths(
  query: SearchQuery,
  needles: Needles | undefined,
  frequencies: ReadonlyMap<number, number>,
): AccessPath[] {
  const trigrams = selectiveTrigrams(neededTrigramsOf(needles), frequencies);
  const paths: AccessPath[] = [];
  if (trigrams.length > 0)
    paths.push((parameters) => candidatesOf(`trigrams @> ${parameters.add(trigrams)}::smallint[]`));
  if (hasFieldCondition(query)) paths.push((parameters) => candidatesOf(fieldCondition(query, parameters)));
  return paths;
}

/** All columns but the trigrams. Of long texts, PostgreSQL keeps only references. */
function candidatesOf(condition: string): string {
  return `
    select id, title_key, author_key, twin_key, year, bytes, title_lower, author_lower, words
    from book_search where ${condition}`;
}
