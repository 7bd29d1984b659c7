/** The table of books of a service. */
export interface BookTable extends AsyncDisposable {
  /** Replaces the books with those of the ids from 1 to `count`, and completes pending work of the database. */
  fill(count: number): Promise<void>;
}
