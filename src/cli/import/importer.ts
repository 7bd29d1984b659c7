import type { Book } from '../../book/book.ts';
import type { BookRow, ImportedBook } from '../../formats/book-row.ts';
import type { Mapping } from '../../formats/mapping.ts';
import type { BookArchive } from '../../store/book-archive.ts';
import { KnownBooks } from './known-books.ts';
import { describeRowError } from './row-error.ts';

/** A batch is stored when it has this many books or characters, so that other writers wait for one batch at most. */
const BATCH_BOOKS_MAX = 2_000;
const BATCH_LENGTH_MAX = 1_024 * 1_024;

/** Further bad rows are only counted. */
const REPORTED_ROWS_MAX = 100;

/** Numbers of rows. */
export interface ImportCounts {
  read: number;
  stored: number;
  /** Their books were stored before. */
  skipped: number;
  /** They are no books, or have the id of another book. */
  bad: number;
}

/** Stores rows in batches. */
export class Importer {
  readonly counts: ImportCounts = { read: 0, stored: 0, skipped: 0, bad: 0 };
  /** Receives a line for each bad row. */
  onBadRow: (line: string) => void = () => {};
  readonly #archive: BookArchive | undefined;
  readonly #keepsIds: boolean;
  readonly #isStrict: boolean;
  readonly #mapping: Mapping;
  readonly #started = performance.now();
  #known: KnownBooks | undefined;
  #batch: GoodRow[] = [];
  #length = 0;
  #isInTransaction = false;

  /**
   * @param archive undefined for a dry run, which only counts
   * @param options `isStrict`: stores all rows or none; `keepsIds`: the rows have ids
   */
  constructor(
    archive: BookArchive | undefined,
    options: { readonly keepsIds: boolean; readonly isStrict: boolean; readonly mapping: Mapping },
  ) {
    this.#archive = archive;
    this.#keepsIds = options.keepsIds;
    this.#isStrict = options.isStrict;
    this.#mapping = options.mapping;
  }

  /** Makes it skip books with the title, author and year of a stored book or an earlier row. */
  async skipExisting(archive: BookArchive, signal: AbortSignal): Promise<void> {
    this.#known = new KnownBooks();
    for await (const page of archive.pages()) {
      if (signal.aborted) return;
      this.#known.addPage(page);
    }
  }

  /** Whether a bad row has failed a strict import. */
  get hasFailed(): boolean {
    return this.#isStrict && this.counts.bad > 0;
  }

  async add(rows: readonly BookRow[]): Promise<void> {
    for (const row of rows) {
      if (this.hasFailed) return;
      this.counts.read++;
      if ('error' in row) this.#reject(row, describeRowError(row.error, this.#mapping));
      else if (this.#known && !this.#known.add(row.book)) this.counts.skipped++;
      else await this.#addToBatch(row);
    }
  }

  /**
   * Stores the last batch, and commits a strict import.
   *
   * @param isComplete whether all rows were read; otherwise the last batch is dropped
   */
  async finish(isComplete: boolean): Promise<void> {
    if (isComplete && !this.hasFailed) await this.#flush();
    if (!this.#isStrict) return;
    if (!isComplete || this.hasFailed) this.counts.stored = 0;
    else if (this.#isInTransaction) await this.#archive?.commit();
  }

  /**
   * The counts in one line.
   *
   * @param end why it ended early
   */
  summary(end?: 'interrupted' | 'failed'): string {
    const { read, stored, skipped, bad } = this.counts;
    const seconds = (performance.now() - this.#started) / 1_000;
    const rate = Math.round(read / Math.max(seconds, 0.001));
    const unreported = bad > REPORTED_ROWS_MAX ? ` (${bad - REPORTED_ROWS_MAX} of them not shown)` : '';
    const suffix = (this.#archive ? '' : '; nothing is stored') + (end === undefined ? '' : `; ${end}`);
    const verb = this.#archive ? 'stored' : 'would store';
    return `read ${read}, ${verb} ${stored}, skipped ${skipped}, bad ${bad}${unreported}, in ${seconds.toFixed(1)} s, ${rate} rows/s${suffix}`;
  }

  #reject(row: BookRow, reason: string): void {
    this.counts.bad++;
    if (this.counts.bad <= REPORTED_ROWS_MAX) this.onBadRow(`${describePosition(row)}: ${reason}`);
  }

  async #addToBatch(row: GoodRow): Promise<void> {
    this.#batch.push(row);
    this.#length += row.book.title.length + row.book.author.length;
    if (this.#batch.length >= BATCH_BOOKS_MAX || this.#length >= BATCH_LENGTH_MAX) await this.#flush();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#length = 0;
    if (batch.length === 0) return;
    if (!this.#archive) {
      this.counts.stored += batch.length;
      return;
    }
    if (this.#isStrict && !this.#isInTransaction) {
      await this.#archive.begin();
      this.#isInTransaction = true;
    }
    const books = batch.map(({ book }) => book);
    if (!this.#keepsIds) {
      await this.#archive.add(books);
      this.counts.stored += batch.length;
      return;
    }
    for (const [index, arrival] of (await this.#archive.addWithIds(books as Book[])).entries()) {
      const row = batch[index] as GoodRow;
      if (arrival === 'stored') this.counts.stored++;
      else if (arrival === 'present') this.counts.skipped++;
      else this.#reject(row, `another book has the id ${row.book.id}`);
    }
  }
}

type GoodRow = BookRow & { readonly book: ImportedBook };

/** Elements of a JSON array may share a line, so they are numbered. */
export function describePosition({ line, element }: BookRow): string {
  return element === undefined ? `line ${line}` : `element ${element} (line ${line})`;
}
