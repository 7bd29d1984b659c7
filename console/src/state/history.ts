import { signal } from '@preact/signals';
import type { BookChange } from '../../../src/client/index.ts';

/** The history of the service, and the changes of others. */
export class History {
  /** Whether the service records the history of its books; false until that is known. */
  readonly isKept = signal(false);
  /** The last change of each book that was received together with others. */
  readonly received = signal<ReadonlyMap<number, BookChange>>(new Map());
  /** The number of books that match the query, and are not in the list, as it would move. */
  readonly newBooks = signal(0);
}
