import { signal } from '@preact/signals';

/** The open dialog of import, export or duplicates; `files` were dropped on the page. */
export const openedDialog = signal<
  | { readonly kind: 'import'; readonly files: readonly File[] }
  | { readonly kind: 'export'; readonly isSelection: boolean }
  | { readonly kind: 'duplicates' }
  | undefined
>(undefined);

export function openImport(files: readonly File[] = []): void {
  openedDialog.value = { kind: 'import', files };
}

/** @param isSelection whether to export the selected books only */
export function openExport(isSelection = false): void {
  openedDialog.value = { kind: 'export', isSelection };
}

export function openDuplicates(): void {
  openedDialog.value = { kind: 'duplicates' };
}

export function closeFileDialog(): void {
  openedDialog.value = undefined;
}
