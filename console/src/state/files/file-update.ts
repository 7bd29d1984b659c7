import { batch, signal } from '@preact/signals';
import type { Book, BookClient } from 'bookkeeping-client/index.ts';
import type { BookRow } from 'bookkeeping-formats/book-row.ts';
import { keyOf } from 'bookkeeping-formats/equal-books.ts';
import type { Mapping } from 'bookkeeping-formats/mapping.ts';
import type { RowError } from 'bookkeeping-formats/row.ts';
import { areIdsOfStore, compareRow } from 'bookkeeping-formats/updated-book.ts';
import type { Change } from '../book-list.ts';
import type { Operation, Operations } from '../operations.ts';
import type { Failure } from '../selection.ts';
import type { InvalidRow } from './check-file.ts';
import { PAGE_BOOKS } from './existing-books.ts';

type GoodRow = Extract<BookRow, { readonly book: unknown }>;

/** What a row changes. */
export interface RowChange extends Change {
  readonly row: GoodRow;
  readonly after: Book;
}

interface BookChange extends RowChange {
  readonly before: Book;
}

/** The rows of a file that has the numbers of stored books. */
export class NumberedRows {
  readonly #numbered = new Map<number, GoodRow>();
  readonly #others: GoodRow[] = [];

  /** Adds a row. @returns why it is not taken */
  readonly add = (row: GoodRow): RowError | undefined => {
    const { id } = row.book;
    if (id === undefined) this.#others.push(row);
    else if (this.#numbered.has(id)) return { kind: 'id-repeated', id };
    else this.#numbered.set(id, row);
    return undefined;
  };

  /** Finds out what the rows change, by listing all books of the service once. */
  async compare(mapping: Mapping, client: Pick<BookClient, 'list'>, abort: AbortSignal): Promise<FileUpdate> {
    const unknown = new Map(this.#numbered);
    const others = Map.groupBy(this.#others, ({ book }) => keyOf(book));
    const changes: BookChange[] = [];
    const invalid: InvalidRow[] = [];
    let [unchanged, skipped] = [0, 0];
    for await (const before of client.list({ limit: PAGE_BOOKS }, { signal: abort })) {
      if (others.get(keyOf(before))?.shift()) skipped++;
      const row = unknown.get(before.id);
      if (!row) continue;
      unknown.delete(before.id);
      const outcome = compareRow(before, row, mapping);
      if (!outcome) unchanged++;
      else if ('error' in outcome)
        invalid.push({ line: row.line, element: row.element, error: outcome.error });
      else changes.push({ row, before, after: outcome.after });
    }
    const found = unchanged + invalid.length + changes.length;
    const added = [...others.values()].flat().map((row) => ({
      row,
      before: undefined,
      after: { id: 0, title: row.book.title, author: row.book.author, year: row.book.year },
    }));
    return new FileUpdate({
      changes: [...changes, ...added].toSorted((one, other) => positionOf(one.row) - positionOf(other.row)),
      added: added.length,
      unchanged,
      skipped,
      invalid: [
        ...invalid,
        ...[...unknown].map(([id, { line, element }]) => ({
          line,
          element,
          error: { kind: 'id-unknown', id } as const,
        })),
      ],
      isOfStore: found > 0 && areIdsOfStore(changes, found - changes.length),
    });
  }
}

/** A number that grows with the rows: elements of a JSON array may share a line. */
export function positionOf({
  line,
  element,
}: {
  readonly line: number;
  readonly element?: number | undefined;
}): number {
  return element ?? line;
}

interface Comparison {
  readonly changes: readonly RowChange[];
  /** The number of {@link changes} that are new books. */
  readonly added: number;
  /** The number of rows that are as their book is stored. */
  readonly unchanged: number;
  /** The number of rows without a number whose book exists. */
  readonly skipped: number;
  /** The rows with a number that no book has, or a new text that is too long. */
  readonly invalid: readonly InvalidRow[];
  /** Whether the numbers are those of the service: half of the books with them have the title or the author of their row. */
  readonly isOfStore: boolean;
}

/** A row whose change was not made. */
interface FailedRow {
  readonly row: GoodRow | undefined;
  readonly failure: Failure;
}

/** The update of stored books by a file. It is one operation, unless it is interrupted. */
export class FileUpdate {
  readonly plan: Comparison;
  readonly updated = signal(0);
  readonly added = signal(0);
  readonly failed = signal<readonly FailedRow[]>([]);
  /** The changes that are not made yet. */
  readonly left = signal<readonly Change[]>([]);
  /** Why the update ended early. */
  readonly error = signal<unknown>(undefined);
  /** What the last run has done, to undo it. */
  readonly operation = signal<Operation | undefined>(undefined);

  constructor(plan: Comparison) {
    this.plan = plan;
    this.left.value = plan.changes;
  }

  /** Makes the changes that are left. What another user has changed since {@link NumberedRows.compare} stays as it is. */
  async run(operations: Pick<Operations, 'run'>): Promise<void> {
    const { operation, done, failures, left, error } = await operations.run('imported', this.left.value);
    const rows = new Map<number | Book, GoodRow>(
      this.plan.changes.map(({ before, after, row }) => [before?.id ?? after, row]),
    );
    const rowOf = ({ book }: Failure) => rows.get(book.id) ?? rows.get(book);
    batch(() => {
      this.updated.value += done.filter(({ before }) => before).length;
      this.added.value += done.filter(({ before }) => !before).length;
      this.failed.value = [
        ...this.failed.value,
        ...failures.map((failure) => ({ row: rowOf(failure), failure })),
      ];
      this.left.value = left;
      this.error.value = error;
      if (done.length > 0) this.operation.value = operation;
    });
  }
}
