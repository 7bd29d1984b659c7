import { texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { COLUMNS, directionOf, nextSort, type Sort } from './sort.ts';

/** The names of the columns; a click sorts by one. */
export function TableHead({ sort }: { sort: Sort }) {
  const t = texts.value;
  return (
    <div role="rowgroup" class="head sticky">
      <div role="row" class="row" aria-rowindex={1}>
        {COLUMNS.map((column) => {
          const direction = directionOf(column, sort);
          return (
            <div key={column} role="columnheader" class={`cell ${column}`} aria-sort={direction}>
              <button type="button" onClick={() => show({ sort: nextSort(column, sort) })}>
                {t.columns[column]}
                {direction !== 'none' && (
                  <span aria-hidden="true">{direction === 'ascending' ? '↑' : '↓'}</span>
                )}
              </button>
            </div>
          );
        })}
      </div>
    </div>
  );
}
