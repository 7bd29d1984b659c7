import type { BookCount, BookPosition } from '../../../book/book.ts';
import type { PageBuilder } from '../../search/page-builder.ts';

/** A row of a result, by the names of its columns. */
export type Row = Record<string, unknown>;
/** Runs a statement. */
export type Rows = (text: string, values: unknown[]) => Promise<Row[]>;

/** One call of a search. */
export interface Look {
  readonly rows: Rows;
  find(limit: number, after: BookPosition | undefined): Promise<PageBuilder>;
  count(after: BookPosition | undefined): Promise<BookCount>;
}
