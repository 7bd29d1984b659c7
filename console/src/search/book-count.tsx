import { isLoading, loadError, total } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { texts } from '../language/texts.ts';
import { allBooks, isSearch } from './found-books.ts';

/** `43 books`, or `5 of 43 books` for a search that has been loaded. */
export function BookCount() {
  const t = texts.value;
  const { value: count } = total;
  const { value: all } = allBooks;
  return (
    <p class="count" role="status" aria-busy={isLoading.value}>
      {count !== undefined &&
        (isSearch.value && all !== undefined && loadError.value === undefined
          ? formatMessage(t.countOf, { count, total: Math.max(count, all) })
          : formatMessage(t.count, { count }))}
    </p>
  );
}
