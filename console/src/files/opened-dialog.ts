import { signal } from '@preact/signals';

/** The open dialog of import or export; `files` were dropped on the page. */
export const openedDialog = signal<
  { readonly kind: 'import'; readonly files: readonly File[] } | { readonly kind: 'export' } | undefined
>(undefined);

export function openImport(files: readonly File[] = []): void {
  openedDialog.value = { kind: 'import', files };
}

export function openExport(): void {
  openedDialog.value = { kind: 'export' };
}

export function closeFileDialog(): void {
  openedDialog.value = undefined;
}
