import { TableRejection } from '../../src/book/book-store.ts';
import type { Book } from '../../src/book/contract.ts';
import { CommandError } from '../../src/cli/exits.ts';
import type { BookArchive, ChangedBook } from '../../src/store/book-archive.ts';
import type { BookRow, ImportedBook } from '../book-row.ts';
import type { Mapping } from '../mapping.ts';
import { type RowError, textLengthOf } from '../row.ts';
import { areIdsOfStore, changedFields, compareRow } from '../updated-book.ts';
import type { IdUse } from './columns.ts';
import { describeRowError } from './row-error.ts';
import { StoredBooks } from './stored-books.ts';

/** The size of a batch, in books and in characters. Other writers wait for one batch at most. */
const BATCH_BOOKS_MAX = 2_000;
const BATCH_LENGTH_MAX = 1_024 * 1_024;

/** Further bad rows are only counted. */
const REPORTED_ROWS_MAX = 100;

interface ImportOptions {
  readonly ids: IdUse;
  /** Whether all rows are stored or none. */
  readonly isStrict: boolean;
  readonly mapping: Mapping;
}

/** Stores rows in batches. */
export class Importer {
  /** The number of rows. The books of skipped rows exist; bad rows are no books, or have the id of another book. */
  readonly counts = { read: 0, stored: 0, skipped: 0, bad: 0 };
  /** The number of rows with the id of a stored book: those that change it, and those that do not. */
  readonly updates = { updated: 0, unchanged: 0 };
  /** The number of stored rows with the same words in title and author as a book that was there. */
  similar = 0;
  /** The number of rows whose year cannot be read: bad ones, and those that are stored all the same. */
  readonly unreadYears = { bad: 0, accepted: 0 };
  onBadRow: (line: string) => void = () => {};
  /** Gets the rows that change a stored book. */
  onUpdate: (line: string) => void = () => {};
  readonly #archive: BookArchive | undefined;
  readonly #options: ImportOptions;
  readonly #started = performance.now();
  #existing: StoredBooks | undefined;
  /** Whether the ids of an update are taken for those of the store. */
  #trustsIds = false;
  /** The archive with the books to update, which a dry run only reads. */
  #stored: BookArchive | undefined;
  /** The ids of the rows of an update so far. */
  readonly #ids = new Set<number>();
  #batch: GoodRow[] = [];
  #length = 0;
  #isInTransaction = false;

  /** @param archive undefined for a dry run, which only counts */
  constructor(archive: BookArchive | undefined, options: ImportOptions) {
    this.#archive = archive;
    this.#options = options;
  }

  /** Enables skipping of the books that are stored already. */
  async skipExisting(archive: BookArchive, signal: AbortSignal): Promise<void> {
    this.#existing = new StoredBooks();
    for await (const page of archive.pages()) {
      if (signal.aborted) return;
      this.#existing.addPage(page);
    }
  }

  /**
   * Enables updates of the books that have the ids of rows.
   *
   * @param trustsIds whether they may have other titles and authors than most rows. Otherwise {@link add} and {@link finish} throw
   *   CommandError for the first batch with ids of books, before it is stored
   */
  update(archive: BookArchive, trustsIds: boolean): void {
    this.#stored = archive;
    this.#trustsIds = trustsIds;
  }

  /** The number of books that are stored or changed. */
  get written(): number {
    return this.counts.stored + this.updates.updated;
  }

  /** Whether a bad row has failed a strict import. */
  get hasFailed(): boolean {
    return this.#options.isStrict && this.counts.bad > 0;
  }

  async add(rows: readonly BookRow[]): Promise<void> {
    for (const row of rows) {
      if (this.hasFailed) return;
      this.counts.read++;
      if ('isYearUnread' in row) this.unreadYears.accepted++;
      else if ('error' in row && row.error.kind === 'year') this.unreadYears.bad++;
      if ('error' in row) this.#reject(row, describeRowError(row.error, this.#options.mapping));
      else if (this.#isRepeated(row.book.id))
        this.#reject(row, describeRowError({ kind: 'id-repeated', id: row.book.id }));
      else if (this.#isSkipped(row.book)) this.counts.skipped++;
      else {
        this.#batch.push(row);
        this.#length += textLengthOf(row.book);
        if (this.#batch.length >= BATCH_BOOKS_MAX || this.#length >= BATCH_LENGTH_MAX) await this.#flush();
      }
    }
  }

  /** Stores the last batch, and commits a strict import; when rows are missing, the last batch is discarded. */
  async finish(isComplete: boolean): Promise<void> {
    if (isComplete && !this.hasFailed) await this.#flush();
    if (!this.#options.isStrict) return;
    if (!isComplete || this.hasFailed) this.counts.stored = this.updates.updated = 0;
    else if (this.#isInTransaction) await this.#archive?.commit();
  }

  /** The counts in one line. @param end why the import ended early @param isJson whether the line is for scripts */
  summary(end?: 'interrupted' | 'failed', isJson = false): string {
    const { read, stored, skipped, bad } = this.counts;
    const seconds = (performance.now() - this.#started) / 1_000;
    const { accepted: unreadYears } = this.unreadYears;
    const isUpdate = this.#stored !== undefined;
    const details = {
      ...(isUpdate && this.updates),
      ...(this.#existing && { similar: this.similar }),
      unreadYears,
    };
    if (isJson) return JSON.stringify({ ...this.counts, ...details, seconds, result: end ?? 'complete' });
    const rate = Math.round(read / Math.max(seconds, 0.001));
    const unreported = bad > REPORTED_ROWS_MAX ? ` (${bad - REPORTED_ROWS_MAX} of them not shown)` : '';
    const unreadYear = isUpdate
      ? 'with a year that cannot be read: stored books keep theirs, and new ones have 0'
      : 'without a year that can be read, which is 0';
    const unread = unreadYears > 0 ? `; ${unreadYears} ${unreadYear}` : '';
    const suffix =
      unread + (this.#archive ? '' : '; nothing is stored') + (end === undefined ? '' : `; ${end}`);
    const { updated, unchanged } = this.updates;
    const [update, verb] = this.#archive ? ['updated', 'stored'] : ['would update', 'would store'];
    const updates = isUpdate ? `${update} ${updated}, unchanged ${unchanged}, ` : '';
    return `read ${read}, ${updates}${verb} ${stored}, skipped ${skipped}, bad ${bad}${unreported}, in ${seconds.toFixed(1)} s, ${rate} rows/s${suffix}`;
  }

  /** Whether an earlier row of an update has the id. */
  #isRepeated(id: number | undefined): id is number {
    if (!this.#stored || id === undefined) return false;
    return this.#ids.size === this.#ids.add(id).size;
  }

  /** Whether a book is stored already. One with an id is updated. */
  #isSkipped(book: ImportedBook): boolean {
    if (!this.#existing || (this.#stored && book.id !== undefined)) return false;
    if (this.#existing.take(book)) return true;
    if (this.#existing.hasSimilar(book)) this.similar++;
    return false;
  }

  #reject(row: BookRow, reason: string): void {
    this.counts.bad++;
    if (this.counts.bad <= REPORTED_ROWS_MAX) this.onBadRow(`${describePosition(row)}: ${reason}`);
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#length = 0;
    if (batch.length === 0) return;
    if (this.#archive && this.#options.isStrict && !this.#isInTransaction) {
      await this.#archive.begin();
      this.#isInTransaction = true;
    }
    const isUpdate = ({ book }: GoodRow) => this.#stored !== undefined && book.id !== undefined;
    await this.#store(batch.filter(isUpdate));
    await this.#store(batch.filter((row) => !isUpdate(row)));
  }

  /** Stores a part of a batch. If the table rejects it, its halves are stored, so that of 2,000 rows with a bad one 1,999 are. */
  async #store(batch: readonly GoodRow[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      if (this.#stored && batch[0]?.book.id !== undefined) await this.#updateAll(this.#stored, batch);
      else await this.#storeAll(batch);
    } catch (error) {
      if (!(error instanceof TableRejection)) throw error;
      const middle = batch.length >> 1;
      if (middle === 0) this.#reject(batch[0] as GoodRow, error.message);
      else for (const half of [batch.slice(0, middle), batch.slice(middle)]) await this.#store(half);
    }
  }

  /** Stores all of the rows, or none. @throws TableRejection */
  async #storeAll(batch: readonly GoodRow[]): Promise<void> {
    const books = batch.map(({ book }) => book);
    if (!this.#archive || this.#options.ids !== 'keep') {
      await this.#archive?.add(books);
      this.counts.stored += batch.length;
      return;
    }
    for (const [index, outcome] of (await this.#archive.addWithIds(books as Book[])).entries()) {
      const row = batch[index] as GoodRow;
      if (outcome === 'stored') this.counts.stored++;
      else if (outcome === 'present') this.counts.skipped++;
      else this.#reject(row, `another book has the id ${row.book.id}`);
    }
  }

  /** @param found the number of books that have the ids of a batch @throws CommandError if these are of another store */
  #checkIds(changes: readonly ChangedBook[], found: number): void {
    if (!this.#trustsIds && !areIdsOfStore(changes, found - changes.length)) {
      throw new CommandError(
        `most of the first ${found} books with the ids of the file have another title and another author there: the ids are of another store. If they are of this one, add --trust-ids`,
      );
    }
    // The first books tell.
    this.#trustsIds ||= found > 0;
  }

  /** Updates the books that have the ids of the rows, all or none. @throws TableRejection */
  async #updateAll(archive: BookArchive, batch: readonly GoodRow[]): Promise<void> {
    const found = await archive.find(batch.map(({ book }) => book.id as number));
    const changes = new Map<GoodRow, ChangedBook>();
    const errors = new Map<GoodRow, RowError>();
    for (const [index, row] of batch.entries()) {
      const before = found[index];
      const outcome = before && compareRow(before, row, this.#options.mapping);
      if (!outcome) continue;
      if ('error' in outcome) errors.set(row, outcome.error);
      else changes.set(row, { before, after: outcome.after });
    }
    this.#checkIds([...changes.values()], found.filter((book) => book !== undefined).length);
    // A dry run has no archive to write to.
    const outcomes = changes.size > 0 ? await this.#archive?.update([...changes.values()]) : undefined;
    const isWritten = outcomes?.values();
    for (const [index, row] of batch.entries()) {
      const change = changes.get(row);
      const error = found[index]
        ? errors.get(row)
        : ({ kind: 'id-unknown', id: row.book.id as number } as const);
      const isChanged = change && (isWritten?.next().value ?? true);
      if (error) this.#reject(row, describeRowError(error, this.#options.mapping));
      else if (!change) this.updates.unchanged++;
      else if (!isChanged) this.#reject(row, `another program has changed book ${row.book.id} meanwhile`);
      else {
        this.updates.updated++;
        this.onUpdate(`${describePosition(row)}: ${describeChange(change)}`);
      }
    }
  }
}

type GoodRow = BookRow & { readonly book: ImportedBook };

/** Elements of a JSON array may share a line, so they are numbered. */
export function describePosition({ line, element }: BookRow): string {
  return element === undefined ? `line ${line}` : `element ${element} (line ${line})`;
}

/** Such as `book 7: year 1925 → 1926`. */
function describeChange({ before, after }: ChangedBook): string {
  const changes = changedFields(before, after).map(
    (field) => `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`,
  );
  return `book ${before.id}: ${changes.join(', ')}`;
}
