import type { Book } from '../../book.ts';
import type { BookArchive } from '../../store/archive.ts';
import { KnownBooks } from './known-books.ts';
import type { Row } from './row.ts';

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
  readonly #archive: BookArchive;
  readonly #keepsIds: boolean;
  readonly #isStrict: boolean;
  readonly #started = performance.now();
  #known: KnownBooks | undefined;
  #batch: { book: Book; line: number }[] = [];
  #length = 0;
  #hasBegun = false;

  /** @param options `isStrict`: all rows or none; `keepsIds`: books have ids of their own */
  constructor(archive: BookArchive, options: { readonly keepsIds: boolean; readonly isStrict: boolean }) {
    this.#archive = archive;
    this.#keepsIds = options.keepsIds;
    this.#isStrict = options.isStrict;
  }

  /** From now on books are skipped that the store has, or the rows before, by title, author and year. */
  async skipExisting(signal: AbortSignal): Promise<void> {
    this.#known = new KnownBooks();
    for await (const page of this.#archive.pages()) {
      if (signal.aborted) return;
      this.#known.addPage(page);
    }
  }

  /** Whether no further row can change what comes of it. */
  get isOver(): boolean {
    return this.#isStrict && this.tally.bad > 0;
  }

  async load(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (this.isOver) return;
      this.tally.read++;
      if ('fault' in row) this.#refuse(row.line, row.fault);
      else if (this.#known && !this.#known.add(row.book)) this.tally.skipped++;
      else await this.#add(row.book, row.line);
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
    else if (this.#hasBegun) await this.#archive.commit();
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
    const ending = end === undefined ? '' : `; ${end}`;
    return `read ${read}, stored ${stored}, skipped ${skipped}, bad ${bad}${untold}, in ${seconds.toFixed(1)} s, ${rate} rows/s${ending}`;
  }

  #refuse(line: number, fault: string): void {
    this.tally.bad++;
    if (this.tally.bad <= FAULTS_TOLD_MAX) this.onFault(`line ${line}: ${fault}`);
  }

  async #add(book: Book, line: number): Promise<void> {
    this.#batch.push({ book, line });
    this.#length += book.title.length + book.author.length;
    if (this.#batch.length >= BATCH_BOOKS_MAX || this.#length >= BATCH_LENGTH_MAX) await this.#flush();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#length = 0;
    if (batch.length === 0) return;
    if (this.#isStrict && !this.#hasBegun) await this.#archive.begin();
    this.#hasBegun = true;
    const books = batch.map(({ book }) => book);
    if (!this.#keepsIds) {
      await this.#archive.add(books);
      this.tally.stored += batch.length;
      return;
    }
    for (const [index, arrival] of (await this.#archive.addWithIds(books)).entries()) {
      const { book, line } = batch[index] as { book: Book; line: number };
      if (arrival === 'stored') this.tally.stored++;
      else if (arrival === 'present') this.tally.skipped++;
      else this.#refuse(line, `the id ${book.id} is another book's`);
    }
  }
}
