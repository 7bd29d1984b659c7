/** The table of books that a service works on, seen from outside. */
export interface BookTable extends AsyncDisposable {
  /** Puts the books with the ids from 1 to `count` into the table, and nothing else; then all is quiet again. */
  fill(count: number): Promise<void>;
}
