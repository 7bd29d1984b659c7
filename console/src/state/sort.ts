/** The columns of the table: the id, and the fields of a book. */
export const COLUMNS = ['id', 'title', 'author', 'year'] as const;
export type Column = (typeof COLUMNS)[number];

/** A sort order as the API writes it: a column, with a leading minus for descending. */
export type Sort = Column | `-${Column}`;
export const SORTS = COLUMNS.flatMap((column): Sort[] => [column, `-${column}`]);

export function columnOf(sort: Sort): Column {
  return sort.replace('-', '') as Column;
}

/** The value of `aria-sort` for a column. */
export function directionOf(column: Column, sort: Sort): 'ascending' | 'descending' | 'none' {
  if (sort === column) return 'ascending';
  return sort === `-${column}` ? 'descending' : 'none';
}

/** The order after a click on the header of a column: ascending first. */
export function nextSort(column: Column, sort: Sort): Sort {
  return sort === column ? `-${column}` : column;
}
