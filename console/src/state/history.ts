import { signal } from '@preact/signals';
import type { BookChange } from 'bookkeeping-client/index.ts';

/** The history of the service, and the changes of others. */
export class History {
  /** Whether the service records the history of its books; undefined until that is known. */
  readonly isKept = signal<boolean | undefined>(undefined);
  /** The last change of each book that was received together with others. */
  readonly received = signal<ReadonlyMap<number, BookChange>>(new Map());
  /** The number of books that match the query, and are not in the list, as it would move. */
  readonly newBooks = signal(0);

  /** Waits until {@link isKept} is known. */
  known(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = this.isKept.subscribe((isKept) => {
      if (isKept !== undefined) resolve(isKept);
    });
    return promise.finally(end);
  }
}
