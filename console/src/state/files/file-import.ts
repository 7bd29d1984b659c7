import { batch, computed, signal } from '@preact/signals';
import { BookkeepingError } from 'bookkeeping-client/index.ts';
import type { BookReading } from 'bookkeeping-formats/book-row.ts';
import { guessByCells } from 'bookkeeping-formats/first-row.ts';
import { guessMapping, type Mapping, withLaterMembers } from 'bookkeeping-formats/mapping.ts';
import type { Field } from 'bookkeeping-formats/row.ts';
import type { Change } from '../book-list.ts';
import type { BookWriting } from '../edit-session.ts';
import type { Operation } from '../operations.ts';
import { type Batch, batchesOf } from './batches.ts';
import { type Check, checkFile, ERRORS_SHOWN_MAX, readBooks } from './check-file.ts';
import { type BookCounts, findExistingBooks, withoutExisting } from './existing-books.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { type FileUpdate, NumberedRows, positionOf } from './file-update.ts';
import { type ImportEnd, type ImportListener, importBatches, type Phase } from './import-batches.ts';
import type { RowFile } from './row-file.ts';
import type { Sample } from './sample.ts';

/** The import of one file. */
export class FileImport {
  readonly file: RowFile;
  readonly sample: Sample;
  readonly mapping = signal<Mapping>({ title: undefined, author: undefined, year: undefined });
  readonly check = signal<Check | undefined>(undefined);
  readonly checkedPart = signal(0);
  readonly skipsExisting = signal(true);
  /** Whether rows whose year cannot be read are imported with an unknown year. */
  readonly acceptsUnreadYears = signal(false);
  /** The books that the service already has; undefined until they are found. */
  readonly existing = signal<BookCounts | undefined>(undefined);
  /** How many of the stored books were compared with the file, from 0 to 1; undefined while their number is unknown. */
  readonly comparedPart = signal<number | undefined>(undefined);
  /** The number of rows that look like changed versions of stored books. */
  readonly similar = signal(0);
  /** Whether the file has numbers of stored books, so that it can update them. */
  readonly hasNumbers = signal(false);
  /** Whether it is to update them; tried with each file that may have numbers. */
  readonly updates = signal(false);
  /** What it changes of them; undefined until that is known. */
  readonly update = signal<FileUpdate | undefined>(undefined);
  /** The error of the search for existing books. */
  readonly error = signal<BookkeepingError | undefined>(undefined);
  readonly skipped = computed(() => {
    const existing = this.skipsExisting.value && this.existing.value;
    return existing ? [...existing.values()].reduce((sum, count) => sum + count, 0) : 0;
  });
  readonly total = computed(() =>
    this.updates.value
      ? (this.update.value?.plan.changes.length ?? 0)
      : (this.check.value?.valid ?? 0) - this.skipped.value,
  );
  readonly canStart = computed(
    () =>
      this.check.value &&
      (this.updates.value || !this.skipsExisting.value || this.existing.value) &&
      this.total.value > 0,
  );
  readonly state = signal<'ready' | 'sending' | 'stopping' | 'ended'>('ready');
  readonly phase = signal<Phase>('sending');
  readonly stored = signal(0);
  /** The result of the import; an error when the file could not be read to its end. */
  readonly end = signal<ImportEnd | UnreadableFileError | undefined>(undefined);
  /** What the import has stored so far, to undo it. */
  readonly operation = signal<Operation | undefined>(undefined);
  readonly #app: BookWriting;
  readonly #changes: Change[] = [];
  // `crypto.randomUUID` is undefined without TLS.
  readonly #keyPrefix = crypto.getRandomValues(new Uint32Array(4)).join('-');
  #controller = new AbortController();

  constructor(app: BookWriting, file: RowFile, sample: Sample) {
    this.#app = app;
    this.file = file;
    this.sample = sample;
    this.updates.value = this.#numberColumn !== undefined;
    const mapping = file.hasHeader ? guessMapping(sample.columns) : guessByCells(sample.columns, sample.rows);
    this.map(this.updates.value && sample.format !== 'csv' ? withLaterMembers(mapping) : mapping);
  }

  get reading(): BookReading {
    return { acceptsUnreadYears: this.acceptsUnreadYears.value, isUpdate: true };
  }

  /** The columns that are read. */
  get columns(): Mapping {
    return this.updates.value ? { ...this.mapping.value, id: this.#numberColumn } : this.mapping.value;
  }

  /** The columns to choose from: those of the first rows, and those that fields are read from. */
  get choices(): readonly string[] {
    const mapped = Object.values(this.mapping.value).filter((column) => column !== undefined);
    return [...new Set([...this.sample.columns, ...mapped])];
  }

  /** The column of an export that has the numbers. */
  get #numberColumn(): string | undefined {
    return this.sample.columns.find((column) => column.toLowerCase() === 'id');
  }

  get isBusy(): boolean {
    return this.state.value === 'sending' || this.state.value === 'stopping';
  }

  /** Assigns columns to fields, and checks the file again. */
  map(changes: Partial<Record<Field, string | undefined>>): void {
    this.mapping.value = { ...this.mapping.value, ...changes };
    this.check.value = undefined;
    this.existing.value = undefined;
    this.update.value = undefined;
    void this.#plan();
  }

  /** Imports the rows whose year cannot be read, or leaves them out. */
  acceptUnreadYears(accepts: boolean): void {
    this.acceptsUnreadYears.value = accepts;
    this.map({});
  }

  /** Updates the stored books that have the numbers of the file, or imports all of its books as new ones. */
  updateStored(updates: boolean): void {
    this.updates.value = updates;
    this.map({});
  }

  skipExisting(skips: boolean): void {
    this.skipsExisting.value = skips;
    void this.#plan();
  }

  /** Checks the file and finds the existing books, if necessary. */
  async #plan(): Promise<void> {
    const abort = this.#restart();
    const onProgress = (part: number) => {
      this.checkedPart.value = part;
    };
    try {
      if (this.updates.value && !(await this.#planUpdate(abort, onProgress))) this.updates.value = false;
      if (this.updates.value) return;
      const check =
        this.check.value ?? (await checkFile(this.file, this.columns, this.reading, abort, onProgress));
      abort.throwIfAborted();
      this.check.value = check;
      if (!this.skipsExisting.value || this.existing.value) return;
      const { client, list } = this.#app;
      this.comparedPart.value = undefined;
      let total: number | undefined;
      // Only for the progress, so it may fail.
      list.count({}, abort).then(
        (count) => {
          total = count;
        },
        () => {},
      );
      const found = await findExistingBooks(check.counts, client, abort, (compared) => {
        if (total) this.comparedPart.value = compared / total;
      });
      if (abort.aborted) return;
      batch(() => {
        this.existing.value = found.existing;
        this.similar.value = found.similar;
      });
    } catch (error) {
      if (abort.aborted) return;
      if (error instanceof BookkeepingError) this.error.value = error;
      else this.#endWith(error);
    }
  }

  /** Finds out what the file changes. @returns whether its numbers are those of stored books */
  async #planUpdate(abort: AbortSignal, onProgress: (part: number) => void): Promise<boolean> {
    const { columns } = this;
    const rows = new NumberedRows();
    const check = await checkFile(this.file, columns, this.reading, abort, onProgress, rows.add);
    const update = await rows.compare(columns, this.#app.client, abort);
    abort.throwIfAborted();
    const { invalid, isOfStore } = update.plan;
    if (!isOfStore && !this.hasNumbers.value) return false;
    const errors = [...check.errors, ...invalid].toSorted(
      (one, other) => positionOf(one) - positionOf(other),
    );
    batch(() => {
      this.hasNumbers.value = true;
      this.update.value = update;
      this.check.value = {
        ...check,
        valid: check.valid - invalid.length,
        invalid: check.invalid + invalid.length,
        errors: errors.slice(0, ERRORS_SHOWN_MAX),
      };
    });
    return true;
  }

  /** Stores the books that are not stored yet, or makes the changes that are not made yet. */
  start(): Promise<void> {
    const { value: update } = this.update;
    return update ? this.#runUpdate(update) : this.#import();
  }

  async #runUpdate(update: FileUpdate): Promise<void> {
    this.state.value = 'sending';
    await update.run(this.#app.operations);
    this.state.value = 'ended';
  }

  async #import(): Promise<void> {
    const cancel = this.#restart();
    batch(() => {
      this.state.value = 'sending';
      this.phase.value = 'sending';
      this.end.value = undefined;
    });
    const rows = readBooks(this.file, this.columns, this.reading);
    const existing = this.skipsExisting.value && this.existing.value;
    const batches = batchesOf(existing ? withoutExisting(rows, existing) : rows, this.stored.value);
    const listener: ImportListener = {
      onPhase: (phase) => {
        this.phase.value = phase;
      },
      onStored: (books) =>
        batch(() => {
          for (const after of books) this.#changes.push({ before: undefined, after });
          this.operation.value = this.#app.operations.extend(this.operation.value, this.#changes);
          this.stored.value += books.length;
        }),
    };
    const dependencies = {
      client: this.#app.client,
      sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
      keyPrefix: this.#keyPrefix,
    };
    try {
      this.#endWith(await importBatches(batches, dependencies, listener, cancel));
    } catch (error) {
      this.#endWith(error);
    }
  }

  /** The batch that a cancelled import may or may not have stored. */
  get unconfirmed(): Batch | undefined {
    const { value: end } = this.end;
    return end && 'kind' in end && end.kind === 'cancelled' ? end.unconfirmed : undefined;
  }

  /** Aborts the check, and ends the import after the current batch. */
  stop(): void {
    this.#controller.abort();
    if (this.state.value !== 'sending') return;
    this.state.value = 'stopping';
    if (this.update.value) this.#app.operations.stop();
  }

  #restart(): AbortSignal {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.error.value = undefined;
    return this.#controller.signal;
  }

  #endWith(end: unknown): void {
    // The user has signed out.
    if (end instanceof DOMException && end.name === 'AbortError') return;
    if (this.stored.value > 0) void this.#app.list.refresh();
    if (end instanceof Error && !(end instanceof UnreadableFileError)) throw end;
    batch(() => {
      this.end.value = end as ImportEnd | UnreadableFileError;
      this.state.value = 'ended';
    });
  }
}
