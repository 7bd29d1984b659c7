/** The types of the contract that the service shares with its client, the command line and the console. */

/** A book as it is stored and sent, with its keys in this order. */
export interface Book {
  /** Assigned by the store, 1 to 9007199254740991; never reused. */
  readonly id: number;
  readonly title: string;
  readonly author: string;
  /** Negative before the common era; within ±9007199254740991. */
  readonly year: number;
}

/** The fields of a book that a client can set. */
export type BookFields = Omit<Book, 'id'>;

/** The body of every response, with its keys in this order (specification, "Response envelope"). */
export interface Envelope<Data> {
  readonly status: number;
  readonly message: string;
  readonly data: Data;
}
