import { batch, signal } from '@preact/signals';
import { refresh } from '../catalogue/catalogue.ts';
import { client } from '../session/session.ts';
import { batchesOf } from './batches.ts';
import { type Check, checkFile, readBooks } from './check.ts';
import { UnreadableFileError } from './file-bytes.ts';
import { type Doubt, type ImportEnd, importBatches, type Phase } from './import.ts';
import { type Field, guessMapping, type Mapping } from './mapping.ts';
import { isBusy } from './opened.ts';
import { type Pace, PaceMeter } from './pace.ts';
import type { RowFile } from './row-file.ts';
import { guessByCells, type Sample } from './sample.ts';

/** The import of one file, as the dialog shows it. */
export class FileImport {
  readonly file: RowFile;
  readonly sample: Sample;
  readonly mapping = signal<Mapping>({ title: undefined, author: undefined, year: undefined });
  /** What the import would do; undefined while that is being found out. */
  readonly check = signal<Check | undefined>(undefined);
  /** How much of the file has been checked, from 0 to 1. */
  readonly checkedPart = signal(0);
  readonly state = signal<'ready' | 'sending' | 'stopping' | 'ended'>('ready');
  readonly phase = signal<Phase>('sending');
  readonly stored = signal(0);
  readonly pace = signal<Pace | undefined>(undefined);
  /** How it has ended; with the error when the file cannot be read any more. */
  readonly end = signal<ImportEnd | UnreadableFileError | undefined>(undefined);
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
    void this.#check();
  }

  async #check(): Promise<void> {
    this.#abortion.abort();
    this.#abortion = new AbortController();
    const { signal: mine } = this.#abortion;
    const onProgress = (part: number) => {
      this.checkedPart.value = part;
    };
    try {
      const check = await checkFile(this.file, this.mapping.value, mine, onProgress);
      if (!mine.aborted) this.check.value = check;
    } catch (error) {
      if (!mine.aborted) this.#endWith(error);
    }
  }

  /** Stores the books, or those that are left after an earlier attempt. */
  async start(): Promise<void> {
    this.#abortion = new AbortController();
    const { signal: cancel } = this.#abortion;
    const { doubt } = this;
    const total = this.check.value?.good ?? 0;
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
    const batches = batchesOf(readBooks(this.file, this.mapping.value), this.stored.value);
    const listener = {
      onPhase: (phase: Phase) => {
        this.phase.value = phase;
      },
      onStored: (books: number) =>
        batch(() => {
          this.stored.value += books;
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

  /** Ends the check or the import, the latter behind the batch that is under way. */
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
