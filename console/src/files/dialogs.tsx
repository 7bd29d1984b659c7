/** What comes with the first dialog for files. */
export { ExportDialog } from './export-dialog.tsx';
export { ImportDialog } from './import-dialog.tsx';
