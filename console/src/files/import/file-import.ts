import { batch, computed, signal } from '@preact/signals';
import { type Book, BookkeepingError } from '../../../../src/client/index.ts';
import { guessMapping, type Mapping } from '../../../../src/formats/mapping.ts';
import type { Field } from '../../../../src/formats/row.ts';
import { isLeaving, refresh } from '../../catalogue/catalogue.ts';
import { client } from '../../session/session.ts';
import { isBusy } from '../opened-dialog.ts';
import { type Check, checkFile, readBooks } from '../read/check-file.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import type { RowFile } from '../read/row-file.ts';
import { guessByCells, type Sample } from '../read/sample.ts';
import { batchesOf } from '../store/batches.ts';
import { type Doubt, type ImportEnd, importBatches, type Phase } from '../store/import-batches.ts';
import { findKnownBooks, type KnownBooks, withoutKnown } from '../store/known-books.ts';
import { type Pace, PaceMeter } from '../store/pace.ts';
import { deleteUnchanged } from '../store/undo-import.ts';

/** The import of one file, as the dialog shows it. */
export class FileImport {
  readonly file: RowFile;
  readonly sample: Sample;
  readonly mapping = signal<Mapping>({ title: undefined, author: undefined, year: undefined });
  /** What the import would do; undefined while that is being found out. */
  readonly check = signal<Check | undefined>(undefined);
  /** How much of the file has been checked, from 0 to 1. */
  readonly checkedPart = signal(0);
  /** Whether books that the service has already are left out. */
  readonly skipsKnown = signal(true);
  /** Those books; undefined while they are being looked for. */
  readonly known = signal<KnownBooks | undefined>(undefined);
  /** Why the last step has failed: looking for the known books, or the undo. */
  readonly fault = signal<BookkeepingError | undefined>(undefined);
  /** How many known books are left out. */
  readonly skipped = computed(() => (this.skipsKnown.value ? (this.known.value?.total ?? 0) : 0));
  /** How many books the import stores. */
  readonly total = computed(() => (this.check.value?.good ?? 0) - this.skipped.value);
  /** Whether it is known what the import would do. */
  readonly isPlanned = computed(() => this.check.value && (!this.skipsKnown.value || this.known.value));
  readonly state = signal<'ready' | 'sending' | 'stopping' | 'ended' | 'undoing'>('ready');
  readonly phase = signal<Phase>('sending');
  readonly stored = signal(0);
  readonly pace = signal<Pace | undefined>(undefined);
  /** How it has ended; with the error when the file cannot be read any more. */
  readonly end = signal<ImportEnd | UnreadableFileError | undefined>(undefined);
  /** How many books an undo can delete, and how many of them are left to it. */
  readonly created = signal(0);
  readonly left = signal(0);
  /** The books that the undo has left, as somebody has changed them; undefined before it has begun. */
  readonly kept = signal<readonly Book[] | undefined>(undefined);
  readonly #left = new Set<Book>();
  #abortion = new AbortController();

  constructor(file: RowFile, sample: Sample) {
    this.file = file;
    this.sample = sample;
    this.map(file.hasHeader ? guessMapping(sample.columns) : guessByCells(sample));
  }

  /** Lets columns fill fields, and checks all rows anew. */
  map(changes: Partial<Record<Field, string | undefined>>): void {
    this.mapping.value = { ...this.mapping.value, ...changes };
    this.check.value = undefined;
    this.known.value = undefined;
    void this.#plan();
  }

  /** Leaves out the books that the service has already, or stores them all the same. */
  skipKnown(skips: boolean): void {
    this.skipsKnown.value = skips;
    void this.#plan();
  }

  /** Checks the file, and looks for the books that are known, where that is not done yet. */
  async #plan(): Promise<void> {
    this.#abortion.abort();
    this.#abortion = new AbortController();
    const { signal: mine } = this.#abortion;
    this.fault.value = undefined;
    const onProgress = (part: number) => {
      this.checkedPart.value = part;
    };
    try {
      const check = this.check.value ?? (await checkFile(this.file, this.mapping.value, mine, onProgress));
      mine.throwIfAborted();
      this.check.value = check;
      if (!this.skipsKnown.value || this.known.value) return;
      const findings = readBooks(this.file, this.mapping.value);
      const known = await findKnownBooks(findings, client, isLeaving, mine);
      if (!mine.aborted) this.known.value = known;
    } catch (error) {
      if (mine.aborted) return;
      if (error instanceof BookkeepingError) this.fault.value = error;
      else this.#endWith(error);
    }
  }

  /** Stores the books, or those that are left after an earlier attempt. */
  async start(): Promise<void> {
    this.#abortion = new AbortController();
    const { signal: cancel } = this.#abortion;
    const { doubt } = this;
    const { value: total } = this.total;
    const meter = new PaceMeter();
    const note = () => {
      this.pace.value = meter.note(this.stored.value, total, performance.now());
    };
    batch(() => {
      this.state.value = 'sending';
      this.phase.value = 'sending';
      this.end.value = undefined;
      isBusy.value = true;
      note();
    });
    const findings = readBooks(this.file, this.mapping.value);
    const known = this.skipsKnown.value && this.known.value;
    const batches = batchesOf(known ? withoutKnown(findings, known) : findings, this.stored.value);
    const listener = {
      onPhase: (phase: Phase) => {
        this.phase.value = phase;
      },
      onStored: (count: number, books: readonly Book[]) =>
        batch(() => {
          for (const book of books) this.#left.add(book);
          this.created.value += books.length;
          this.left.value = this.#left.size;
          this.stored.value += count;
          note();
        }),
    };
    addEventListener('beforeunload', stay);
    try {
      this.#endWith(await importBatches(batches, { client, sleep, now }, listener, cancel, doubt));
    } catch (error) {
      this.#endWith(error);
    } finally {
      removeEventListener('beforeunload', stay);
    }
  }

  /** What an earlier attempt has left open. */
  get doubt(): Doubt | undefined {
    const { value: end } = this.end;
    return end && 'kind' in end && end.kind === 'cancelled' ? end.doubt : undefined;
  }

  /** Deletes what the import has stored, or what is left of it; books that have been changed since stay. */
  async undo(): Promise<void> {
    this.#abortion = new AbortController();
    const { signal: mine } = this.#abortion;
    batch(() => {
      this.state.value = 'undoing';
      this.fault.value = undefined;
      this.kept.value ??= [];
      isBusy.value = true;
    });
    const onDone = (kept: Book | undefined) =>
      batch(() => {
        if (kept) this.kept.value = [...(this.kept.value ?? []), kept];
        this.left.value = this.#left.size;
      });
    addEventListener('beforeunload', stay);
    try {
      await deleteUnchanged(this.#left, client, onDone, mine);
    } catch (error) {
      if (error instanceof BookkeepingError) this.fault.value = error;
      else if (!(error instanceof DOMException)) throw error;
    } finally {
      removeEventListener('beforeunload', stay);
      isBusy.value = false;
      this.state.value = 'ended';
      refresh();
    }
  }

  /** Ends the check, the undo or the import, the latter behind the batch that is under way. */
  stop(): void {
    this.#abortion.abort();
    if (this.state.value === 'sending') this.state.value = 'stopping';
  }

  #endWith(end: unknown): void {
    isBusy.value = false;
    // Somebody has signed out: there is no page any more on which it could be told.
    if (end instanceof DOMException && end.name === 'AbortError') return;
    if (this.stored.value > 0) refresh();
    if (end instanceof Error && !(end instanceof UnreadableFileError)) throw end;
    batch(() => {
      this.end.value = end as ImportEnd | UnreadableFileError;
      this.state.value = 'ended';
    });
  }
}

/** Has the browser ask before the page is left in the middle of an import. */
function stay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function now(): number {
  return performance.now();
}
