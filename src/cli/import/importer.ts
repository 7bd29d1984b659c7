import type { Book } from '../../book/book.ts';
import type { BookOfFile, BookRow } from '../../formats/book-row.ts';
import type { Mapping } from '../../formats/mapping.ts';
import type { BookArchive } from '../../store/book-archive.ts';
import { explainFault } from './fault.ts';
import { KnownBooks } from './known-books.ts';

/** A batch is stored when it has so many books, or so many characters: others who write wait no longer than for that. */
const BATCH_BOOKS_MAX = 2_000;
const BATCH_LENGTH_MAX = 1_024 * 1_024;

/** The most faults that are told one by one. */
const FAULTS_TOLD_MAX = 100;

/** What became of the rows of a file. */
export interface Tally {
  read: number;
  stored: number;
  /** Rows whose books were there before. */
  skipped: number;
  /** Rows that are no books, or whose id another book has. */
  bad: number;
}

/** Puts rows into a store, in batches. */
export class Loading {
  readonly tally: Tally = { read: 0, stored: 0, skipped: 0, bad: 0 };
  /** Is told what is wrong with rows, a line each. */
  onFault: (line: string) => void = () => {};
  readonly #archive: BookArchive | undefined;
  readonly #keepsIds: boolean;
  readonly #isStrict: boolean;
  readonly #mapping: Mapping;
  readonly #started = performance.now();
  #known: KnownBooks | undefined;
  #batch: GoodRow[] = [];
  #length = 0;
  #hasBegun = false;

  /**
   * @param archive where books are stored; undefined for a dry run, which counts them only
   * @param options `isStrict`: all rows or none; `keepsIds`: books have ids of their own; `mapping` names their columns
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

  /** From now on books are skipped that an archive has, or the rows before, by title, author and year. */
  async skipExisting(archive: BookArchive, signal: AbortSignal): Promise<void> {
    this.#known = new KnownBooks();
    for await (const page of archive.pages()) {
      if (signal.aborted) return;
      this.#known.addPage(page);
    }
  }

  /** Whether no further row can change what comes of it. */
  get isOver(): boolean {
    return this.#isStrict && this.tally.bad > 0;
  }

  async load(rows: readonly BookRow[]): Promise<void> {
    for (const row of rows) {
      if (this.isOver) return;
      this.tally.read++;
      if ('fault' in row) this.#refuse(row, explainFault(row.fault, this.#mapping));
      else if (this.#known && !this.#known.add(row.book)) this.tally.skipped++;
      else await this.#add(row);
    }
  }

  /**
   * Stores what is left.
   *
   * @param isComplete whether all rows were read; otherwise those of the last batch are left out
   */
  async end(isComplete: boolean): Promise<void> {
    if (isComplete && !this.isOver) await this.#flush();
    if (!this.#isStrict) return;
    if (!isComplete || this.isOver) this.tally.stored = 0;
    else if (this.#hasBegun) await this.#archive?.commit();
  }

  /**
   * All of it in one line.
   *
   * @param end how it ended, where it did so before its time
   */
  summary(end?: 'interrupted' | 'failed'): string {
    const { read, stored, skipped, bad } = this.tally;
    const seconds = (performance.now() - this.#started) / 1_000;
    const rate = Math.round(read / Math.max(seconds, 0.001));
    const untold = bad > FAULTS_TOLD_MAX ? ` (${bad - FAULTS_TOLD_MAX} of them not shown)` : '';
    const ending = (this.#archive ? '' : '; nothing is stored') + (end === undefined ? '' : `; ${end}`);
    const verb = this.#archive ? 'stored' : 'would store';
    return `read ${read}, ${verb} ${stored}, skipped ${skipped}, bad ${bad}${untold}, in ${seconds.toFixed(1)} s, ${rate} rows/s${ending}`;
  }

  #refuse(row: BookRow, fault: string): void {
    this.tally.bad++;
    if (this.tally.bad <= FAULTS_TOLD_MAX) this.onFault(`${placeOf(row)}: ${fault}`);
  }

  async #add(row: GoodRow): Promise<void> {
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
      this.tally.stored += batch.length;
      return;
    }
    if (this.#isStrict && !this.#hasBegun) await this.#archive.begin();
    this.#hasBegun = true;
    const books = batch.map(({ book }) => book);
    if (!this.#keepsIds) {
      await this.#archive.add(books);
      this.tally.stored += batch.length;
      return;
    }
    for (const [index, arrival] of (await this.#archive.addWithIds(books as Book[])).entries()) {
      const row = batch[index] as GoodRow;
      if (arrival === 'stored') this.tally.stored++;
      else if (arrival === 'present') this.tally.skipped++;
      else this.#refuse(row, `the id ${row.book.id} is another book's`);
    }
  }
}

type GoodRow = BookRow & { readonly book: BookOfFile };

/** Where a row is, in words. Elements of a JSON array may share a line, so they have a number. */
export function placeOf({ line, element }: BookRow): string {
  return element === undefined ? `line ${line}` : `element ${element} (line ${line})`;
}
