import { effect, signal } from '@preact/signals';
import { session } from '../../session/session.ts';
import { formatOf } from '../read/detect-format.ts';
import { type FileProblem, UnreadableFileError } from '../read/file-bytes.ts';
import { openRowFile, type RowFile } from '../read/row-file.ts';
import { looksLikeBook, readSample } from '../read/sample.ts';
import { FileImport } from './file-import.ts';

/** What there is of an import: no file yet, perhaps because of a problem with one; one that is being read; or all. */
export type Choice =
  | { readonly kind: 'none'; readonly problem?: FileProblem | 'several' }
  | { readonly kind: 'reading'; readonly name: string }
  | { readonly kind: 'chosen'; readonly fileImport: FileImport };

export const choice = signal<Choice>({ kind: 'none' });

/** Takes a file for the import, in place of what was there. */
export async function chooseFile(files: readonly File[]): Promise<void> {
  leaveFile();
  const [file] = files;
  if (!file) return;
  if (files.length > 1) {
    choice.value = { kind: 'none', problem: 'several' };
    return;
  }
  const reading: Choice = { kind: 'reading', name: file.name };
  choice.value = reading;
  const next = await read(() => openFile(file));
  if (choice.value === reading) choice.value = next;
  else if (next.kind === 'chosen') next.fileImport.stop();
}

/** Takes the first row of the file for the names of its columns, or for a book. */
export async function readAnew(fileImport: FileImport, hasHeader: boolean): Promise<void> {
  fileImport.stop();
  choice.value = await read(async () => ({ ...fileImport.file, hasHeader }));
}

/** The last import that can be undone. */
export const lastImport = signal<FileImport | undefined>(undefined);

effect(() => {
  if (session.value === 'out') lastImport.value = undefined;
});

/** Shows the last import again. */
export function returnToImport(fileImport: FileImport): void {
  choice.value = { kind: 'chosen', fileImport };
}

/** Forgets the file, but not what has been stored of it. */
export function leaveFile(): void {
  if (choice.value.kind === 'chosen') {
    const { fileImport } = choice.value;
    fileImport.stop();
    if (fileImport.left.value > 0) lastImport.value = fileImport;
  }
  choice.value = { kind: 'none' };
}

async function openFile(file: File): Promise<RowFile> {
  const source = await openRowFile(file, await formatOf(file));
  if (source.format !== 'csv') return source;
  const [first] = (await readSample({ ...source, hasHeader: false })).rows;
  const names = first && 'cells' in first ? first.cells.map(String) : [];
  return { ...source, hasHeader: !looksLikeBook(names) };
}

async function read(open: () => Promise<RowFile>): Promise<Choice> {
  try {
    const source = await open();
    const sample = await readSample(source);
    if (sample.rows.length === 0) return { kind: 'none', problem: 'no-rows' };
    return { kind: 'chosen', fileImport: new FileImport(source, sample) };
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { kind: 'none', problem: error.problem };
  }
}
