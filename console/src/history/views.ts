// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/history.css';

/** The entry of the code that is loaded with the first view of the history. */
export { BookHistory } from './book-history.tsx';
export { DeletedBooks } from './deleted-books.tsx';
