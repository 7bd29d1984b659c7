import { signal } from '@preact/signals';

/** A dialog for files: to import one, which may have been dropped already, or to export. */
export type OpenedDialog =
  | { readonly kind: 'import'; readonly files: readonly File[] }
  | { readonly kind: 'export' };

/** The dialog for files that is open, if one is. */
export const opened = signal<OpenedDialog | undefined>(undefined);

/** Whether a file that is dropped would disturb an import that is under way. */
export const isBusy = signal(false);

export function openImport(files: readonly File[] = []): void {
  opened.value = { kind: 'import', files };
}

export function openExport(): void {
  opened.value = { kind: 'export' };
}

export function closeFiles(): void {
  isBusy.value = false;
  opened.value = undefined;
}
