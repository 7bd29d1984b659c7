// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/files.css';

/** The entry of the code that is loaded with the first dialog. */
export { DuplicatesDialog } from '../duplicates/duplicates-dialog.tsx';
export { ExportDialog } from './export/export-dialog.tsx';
export { ImportDialog } from './import/import-dialog.tsx';
