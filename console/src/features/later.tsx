// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/later.css';

/** The entry of the code that is loaded after the first books. */
export { BookWriter } from '../state/book-writer.ts';
export { Chart } from './chart.tsx';
export { Empty } from './empty.tsx';
export { FileDrop } from './file-drop.tsx';
export { OpenedDialog } from './opened-dialog.tsx';
export { PageMenu } from './page-menu.tsx';
export { PrintedBooks, printBooks } from './printed-books.tsx';
export { Reports } from './reports.tsx';
export { deleteSelected, SelectedCount, SelectionBar } from './selection-bar.tsx';
export { CellEditor } from './table/cell-editor.tsx';
export { emptyCells, fillDown } from './table/cell-range.ts';
export { copyCells, cutCells, pasteCells } from './table/clipboard.ts';
export { Divider } from './table/divider.tsx';
export { TypedText } from './table/typed-text.tsx';
