/** The columns of the table, which are the fields of a book. */
export const COLUMNS = ['id', 'title', 'author', 'year'] as const;
export type Column = (typeof COLUMNS)[number];

/** An order as the API writes it: a column, with a minus in front for descending. */
export type Sort = Column | `-${Column}`;
export const SORTS = COLUMNS.flatMap((column): Sort[] => [column, `-${column}`]);

/** How a column stands in an order, in the words of `aria-sort`. */
export function directionOf(column: Column, sort: Sort): 'ascending' | 'descending' | 'none' {
  if (sort === column) return 'ascending';
  return sort === `-${column}` ? 'descending' : 'none';
}

/** The order that comes next when somebody asks for a column: ascending first, then back and forth. */
export function nextSort(column: Column, sort: Sort): Sort {
  return sort === column ? `-${column}` : column;
}

/** The other direction of an order. */
export function reverseOf(sort: Sort): Sort {
  return sort.startsWith('-') ? (sort.slice(1) as Column) : `-${sort as Column}`;
}
