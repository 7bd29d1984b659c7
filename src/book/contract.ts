/** The shapes of the contract that both sides of the wire speak, the service and its client. Types, nothing else. */

/** A book record, as it is stored and as it is answered. The keys stand in the order of the specification. */
export interface Book {
  /** Assigned by the store: 1 to 9007199254740991, never given out twice. */
  readonly id: number;
  readonly title: string;
  readonly author: string;
  /** Negative before the common era; within ±9007199254740991. */
  readonly year: number;
}

/** What a client may say of a book. */
export type BookFields = Omit<Book, 'id'>;

/** The shape of every answer (specification, "Response envelope"), keys in this order. */
export interface Envelope<Data> {
  readonly status: number;
  readonly message: string;
  readonly data: Data;
}
