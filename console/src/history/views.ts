/** The entry of the code that is loaded with the first view of the history. */
export { BookHistory } from './book-history.tsx';
export { DeletedBooks } from './deleted-books.tsx';
