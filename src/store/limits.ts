/** The most books in one page of the list: what one trip may cost the others, and what a list leaves to be swept up. */
export const PAGE_BOOKS_MAX = 500;

/** The most bytes of text in a page of several books, as books may be long. */
export const PAGE_TEXT_BYTES_MAX = 1_024 * 1_024;

/** The most calls that share one trip to the store. */
const TRIP_ITEMS_MAX = 1_000;

/** The most calls of one kind that wait for a trip; beyond it the service is overloaded. */
const QUEUE_ITEMS_MAX = 10_000;

export const TRIP_BOUNDS = { tripItemsMax: TRIP_ITEMS_MAX, queueItemsMax: QUEUE_ITEMS_MAX };
