import { computed, effect, signal } from '@preact/signals';
import { warnBeforeLeaving } from '../../page/warn-before-leaving.ts';
import { signInState } from '../../session/session.ts';
import { type FileProblem, UnreadableFileError } from '../read/file-bytes.ts';
import { formatOf, openRowFile, type RowFile } from '../read/row-file.ts';
import { looksLikeBook, readSample } from '../read/sample.ts';
import { FileImport } from './file-import.ts';

/** The file of the import dialog; `problem` is why there is none. */
export type ChosenFile =
  | { readonly kind: 'none'; readonly problem?: FileProblem | 'multiple' }
  | { readonly kind: 'opening'; readonly name: string }
  | { readonly kind: 'open'; readonly fileImport: FileImport };

export const chosenFile = signal<ChosenFile>({ kind: 'none' });

/** Whether the file is being imported, or an import undone. */
export const isImporting = computed(
  () => chosenFile.value.kind === 'open' && chosenFile.value.fileImport.isBusy.value,
);
warnBeforeLeaving(() => isImporting.value);

/** The last import, if it can be undone. */
export const lastImport = signal<FileImport | undefined>(undefined);

effect(() => {
  if (signInState.value === 'out') lastImport.value = undefined;
});

export async function chooseFile(files: readonly File[]): Promise<void> {
  closeFile();
  const [file] = files;
  if (!file) return;
  if (files.length > 1) {
    chosenFile.value = { kind: 'none', problem: 'multiple' };
    return;
  }
  const opening: ChosenFile = { kind: 'opening', name: file.name };
  chosenFile.value = opening;
  const next = await open(() => openFile(file));
  if (chosenFile.value === opening) chosenFile.value = next;
  else if (next.kind === 'open') next.fileImport.stop();
}

/** Opens the current file again, with or without a header. */
export async function setHeader(fileImport: FileImport, hasHeader: boolean): Promise<void> {
  fileImport.stop();
  chosenFile.value = await open(async () => ({ ...fileImport.file, hasHeader }));
}

/** Closes the current file; its import can still be undone. */
export function closeFile(): void {
  if (chosenFile.value.kind === 'open') {
    const { fileImport } = chosenFile.value;
    fileImport.stop();
    if (fileImport.left.value > 0) lastImport.value = fileImport;
  }
  chosenFile.value = { kind: 'none' };
}

async function openFile(file: File): Promise<RowFile> {
  const rowFile = await openRowFile(file, await formatOf(file));
  if (rowFile.format !== 'csv') return rowFile;
  const [first] = (await readSample({ ...rowFile, hasHeader: false })).rows;
  const names = first && 'cells' in first ? first.cells.map(String) : [];
  return { ...rowFile, hasHeader: !looksLikeBook(names) };
}

async function open(openRows: () => Promise<RowFile>): Promise<ChosenFile> {
  try {
    const file = await openRows();
    const sample = await readSample(file);
    if (sample.rows.length === 0) return { kind: 'none', problem: 'no-rows' };
    return { kind: 'open', fileImport: new FileImport(file, sample) };
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { kind: 'none', problem: error.problem };
  }
}
