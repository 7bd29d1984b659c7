import { batch, computed, signal } from '@preact/signals';
import { type Book, BookkeepingError } from '../../../../src/client/index.ts';
import { guessMapping, type Mapping } from '../../../../src/formats/mapping.ts';
import type { Field } from '../../../../src/formats/row.ts';
import { isHidden } from '../../book/hidden-books.ts';
import { deleteIfUnchanged, forEachBook, type Outcome } from '../../book/stored-books.ts';
import { refresh } from '../../catalogue/catalogue.ts';
import { client } from '../../session/session.ts';
import { type Check, checkFile, readBooks } from '../read/check-file.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import type { RowFile } from '../read/row-file.ts';
import { guessByCells, type Sample } from '../read/sample.ts';
import { batchesOf } from '../store/batches.ts';
import { type ExistingBooks, findExistingBooks, withoutExisting } from '../store/existing-books.ts';
import {
  type ImportDependencies,
  type ImportEnd,
  type ImportListener,
  importBatches,
  type Phase,
  type UnconfirmedBatch,
} from '../store/import-batches.ts';
import { type Pace, PaceMeter } from '../store/pace.ts';

const DEPENDENCIES: ImportDependencies = {
  client,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => performance.now(),
};

/** The import of one file. */
export class FileImport {
  readonly file: RowFile;
  readonly sample: Sample;
  readonly mapping = signal<Mapping>({ title: undefined, author: undefined, year: undefined });
  readonly check = signal<Check | undefined>(undefined);
  readonly checkedPart = signal(0);
  readonly skipsExisting = signal(true);
  /** The books that the service already has; undefined until they are found. */
  readonly existing = signal<ExistingBooks | undefined>(undefined);
  /** The error of the search for existing books, or of the undo. */
  readonly error = signal<BookkeepingError | undefined>(undefined);
  readonly skipped = computed(() => (this.skipsExisting.value ? (this.existing.value?.total ?? 0) : 0));
  readonly total = computed(() => (this.check.value?.valid ?? 0) - this.skipped.value);
  readonly canStart = computed(
    () => this.check.value && (!this.skipsExisting.value || this.existing.value) && this.total.value > 0,
  );
  readonly state = signal<'ready' | 'sending' | 'stopping' | 'ended' | 'undoing'>('ready');
  readonly isBusy = computed(() => ['sending', 'stopping', 'undoing'].includes(this.state.value));
  readonly phase = signal<Phase>('sending');
  readonly stored = signal(0);
  readonly pace = signal<Pace | undefined>(undefined);
  /** The result of the import; an error when the file could not be read to its end. */
  readonly end = signal<ImportEnd | UnreadableFileError | undefined>(undefined);
  /** The number of books that an undo can delete, and how many of them are not deleted yet. */
  readonly created = signal(0);
  readonly left = signal(0);
  /** The books that the undo has kept, as they have changed; undefined before the undo. */
  readonly kept = signal<readonly Book[] | undefined>(undefined);
  readonly #left = new Set<Book>();
  #controller = new AbortController();

  constructor(file: RowFile, sample: Sample) {
    this.file = file;
    this.sample = sample;
    this.map(file.hasHeader ? guessMapping(sample.columns) : guessByCells(sample));
  }

  /** Assigns columns to fields, and checks the file again. */
  map(changes: Partial<Record<Field, string | undefined>>): void {
    this.mapping.value = { ...this.mapping.value, ...changes };
    this.check.value = undefined;
    this.existing.value = undefined;
    void this.#plan();
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
      const check = this.check.value ?? (await checkFile(this.file, this.mapping.value, abort, onProgress));
      abort.throwIfAborted();
      this.check.value = check;
      if (!this.skipsExisting.value || this.existing.value) return;
      const rows = readBooks(this.file, this.mapping.value);
      const existing = await findExistingBooks(rows, client, isHidden, abort);
      if (!abort.aborted) this.existing.value = existing;
    } catch (error) {
      if (abort.aborted) return;
      if (error instanceof BookkeepingError) this.error.value = error;
      else this.#endWith(error);
    }
  }

  /** Stores the books that are not stored yet. */
  async start(): Promise<void> {
    const { unconfirmed } = this;
    const cancel = this.#restart();
    const meter = new PaceMeter();
    const measure = () => {
      this.pace.value = meter.record(this.stored.value, this.total.value, performance.now());
    };
    batch(() => {
      this.state.value = 'sending';
      this.phase.value = 'sending';
      this.end.value = undefined;
      measure();
    });
    const rows = readBooks(this.file, this.mapping.value);
    const existing = this.skipsExisting.value && this.existing.value;
    const batches = batchesOf(existing ? withoutExisting(rows, existing) : rows, this.stored.value);
    const listener: ImportListener = {
      onPhase: (phase) => {
        this.phase.value = phase;
      },
      onStored: (count, books) =>
        batch(() => {
          for (const book of books) this.#left.add(book);
          this.created.value += books.length;
          this.left.value = this.#left.size;
          this.stored.value += count;
          measure();
        }),
    };
    try {
      this.#endWith(await importBatches(batches, DEPENDENCIES, listener, cancel, unconfirmed));
    } catch (error) {
      this.#endWith(error);
    }
  }

  /** The batch that a cancelled import may or may not have stored. */
  get unconfirmed(): UnconfirmedBatch | undefined {
    const { value: end } = this.end;
    return end && 'kind' in end && end.kind === 'cancelled' ? end.unconfirmed : undefined;
  }

  /** Deletes the books that the import has stored, except those that have been changed since. */
  async undo(): Promise<void> {
    const abort = this.#restart();
    batch(() => {
      this.state.value = 'undoing';
      this.kept.value ??= [];
    });
    const onDone = (outcome: Outcome) =>
      batch(() => {
        if (outcome.kind === 'changed') this.kept.value = [...(this.kept.value ?? []), outcome.book];
        this.left.value = this.#left.size;
      });
    try {
      await forEachBook(this.#left, (book) => deleteIfUnchanged(book, client, abort), onDone, abort);
    } catch (error) {
      if (error instanceof BookkeepingError) this.error.value = error;
      else if (!(error instanceof DOMException)) throw error;
    } finally {
      this.state.value = 'ended';
      refresh();
    }
  }

  /** Aborts the check or the undo, and ends the import after the current batch. */
  stop(): void {
    this.#controller.abort();
    if (this.state.value === 'sending') this.state.value = 'stopping';
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
    if (this.stored.value > 0) refresh();
    if (end instanceof Error && !(end instanceof UnreadableFileError)) throw end;
    batch(() => {
      this.end.value = end as ImportEnd | UnreadableFileError;
      this.state.value = 'ended';
    });
  }
}
