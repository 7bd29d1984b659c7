/** What comes with the first dialog for files. */
export { ExportDialog } from './export/export-dialog.tsx';
export { ImportDialog } from './import/import-dialog.tsx';
