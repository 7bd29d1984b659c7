import { signal } from '@preact/signals';
import { looksLikeBook } from 'bookkeeping-formats/first-row.ts';
import type { BookWriting } from '../edit-session.ts';
import { type FileProblem, UnreadableFileError } from './file-bytes.ts';
import { FileImport } from './file-import.ts';
import type { RowFile } from './row-file.ts';
import { readSample } from './sample.ts';

/** The file of the import dialog; `problem` is why there is none. */
export type ChosenFile =
  | { readonly kind: 'none'; readonly problem?: FileProblem | 'multiple'; readonly format?: string }
  | { readonly kind: 'opening'; readonly name: string }
  | { readonly kind: 'open'; readonly fileImport: FileImport };

/** The choice of a file to import. */
export class FileChoice {
  readonly chosen = signal<ChosenFile>({ kind: 'none' });
  readonly #app: BookWriting;

  constructor(app: BookWriting) {
    this.#app = app;
  }

  async choose(files: readonly File[]): Promise<void> {
    this.close();
    const [file] = files;
    if (!file) return;
    if (files.length > 1) {
      this.chosen.value = { kind: 'none', problem: 'multiple' };
      return;
    }
    const opening: ChosenFile = { kind: 'opening', name: file.name };
    this.chosen.value = opening;
    const next = await this.#open(() => openFile(file));
    if (this.chosen.value === opening) this.chosen.value = next;
    else if (next.kind === 'open') next.fileImport.stop();
  }

  /** Opens the current file again, with or without a header. */
  async setHeader(fileImport: FileImport, hasHeader: boolean): Promise<void> {
    fileImport.stop();
    this.chosen.value = await this.#open(async () => ({ ...fileImport.file, hasHeader }));
  }

  close(): void {
    if (this.chosen.value.kind === 'open') this.chosen.value.fileImport.stop();
    this.chosen.value = { kind: 'none' };
  }

  async #open(openRows: () => Promise<RowFile>): Promise<ChosenFile> {
    try {
      const file = await openRows();
      const sample = await readSample(file);
      if (sample.rows.length === 0) return { kind: 'none', problem: 'no-rows' };
      return { kind: 'open', fileImport: new FileImport(this.#app, file, sample) };
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error;
      return { kind: 'none', problem: error.problem, format: error.format };
    }
  }
}

async function openFile(file: File): Promise<RowFile> {
  const { firstCells } = await readSample({ file, hasHeader: true });
  return { file, hasHeader: !looksLikeBook(firstCells) };
}
