import { exact, HAS_EXACT_ID, textBytes } from '../../store/postgres/book-columns.ts';
import type { SearchQuery } from '../book-search.ts';
import { fieldCondition, hasFieldCondition } from '../conditions.ts';
import type { Needles } from '../folding.ts';
import { COMPARED_MAX } from '../indexed-run.ts';
import type { Parameters } from '../parameters.ts';
import type { AccessPath, Dialect, IdBounds, Paths } from '../snapshot.ts';
import { CANDIDATE_COLUMNS, candidatesAmong, candidatesOfAll, RANGE_IDS, RANGES } from './id-ranges.ts';
import { frequencyOf, neededTrigramsOf, selectiveTrigrams, type TrigramStatistics } from './trigrams.ts';

const DIALECT: Omit<Dialect, 'accessPaths' | 'pathsById'> = {
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
 * @param statistics see {@link selectiveTrigrams}
 * @param selectBounds the lowest and the highest id of the index; undefined when it has no books
 */
export function postgresDialect(
  statistics: TrigramStatistics,
  selectBounds: () => Promise<IdBounds | undefined>,
): Dialect {
  const trigramsOf = (needles: Needles | undefined) =>
    selectiveTrigrams(neededTrigramsOf(needles), statistics);
  return {
    ...DIALECT,
    accessPaths(query, needles) {
      const trigrams = trigramsOf(needles);
      return [...(trigrams.length > 0 ? [candidatesOfAll(trigrams)] : []), ...fieldPaths(query)];
    },
    async pathsById(query, needles): Promise<Paths | undefined> {
      const trigrams = trigramsOf(needles);
      const bounds = trigrams.length > 0 ? await selectBounds() : undefined;
      // The ranges of scattered ids are too many to read one after the other.
      if (!bounds || bounds.last - bounds.first > (RANGES - 1) * RANGE_IDS) return undefined;
      const select = (first: number, last: number) => candidatesAmong(trigrams, first, last);
      const [rarest = 0] = trigrams;
      const areMany = Math.min(statistics.books, RANGE_IDS) * frequencyOf(rarest, statistics) > COMPARED_MAX;
      return { ranges: { ...bounds, rangeIds: RANGE_IDS, areMany, select }, others: fieldPaths(query) };
    },
  };
}

function fieldPaths(query: SearchQuery): AccessPath[] {
  if (!hasFieldCondition(query)) return [];
  const select = (columns: string) => (parameters: Parameters) =>
    `select ${columns} from book_search where ${fieldCondition(query, parameters)}`;
  return [Object.assign(select(CANDIDATE_COLUMNS), { ids: select('id') })];
}
