import { signal } from '@preact/signals';
import type { BookQuery } from 'bookkeeping-client/index.ts';
import { mediaTypeOf, writeBooks } from 'bookkeeping-formats/rendering.ts';
import type { BookList } from '../book-list.ts';
import type { Selection } from '../selection.ts';
import { queryOf, type ShownView } from '../view.ts';
import { download } from './save-file.ts';

/** The byte-order mark by which spreadsheet programs recognize UTF-8. */
const BOM = '\uFEFF';

interface ExportedBooks {
  readonly address: ShownView;
  readonly list: BookList;
  readonly selection: Selection;
}

/** An export of the books that are listed or selected when it is created. */
export class BookExport {
  readonly query: BookQuery;
  readonly isSelection: boolean;
  readonly total: number | undefined;
  readonly format = signal<'csv' | 'json'>('csv');
  readonly state = signal<'ready' | 'saving' | 'saved'>('ready');
  readonly written = signal(0);
  readonly error = signal<unknown>(undefined);
  readonly #app: ExportedBooks;
  #controller = new AbortController();

  constructor(app: ExportedBooks, isSelection: boolean) {
    this.#app = app;
    this.query = queryOf(app.address.view.value);
    this.isSelection = isSelection;
    this.total =
      isSelection && app.selection.isCounted.value ? app.selection.count.value : app.list.total.value;
  }

  /** Saves the file. @param title the beginning of its name */
  async save(title: string): Promise<void> {
    const { value: format } = this.format;
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.error.value = undefined;
    this.state.value = 'saving';
    this.written.value = 0;
    // The Swedish format is YYYY-MM-DD.
    const name = `${title} ${new Date().toLocaleDateString('sv')}.${format}`;
    try {
      await download(name, mediaTypeOf(format), this.#texts(format, abort));
      this.state.value = 'saved';
    } catch (error) {
      this.state.value = 'ready';
      if (!abort.aborted) this.error.value = error;
    }
  }

  /** Cancels the export and discards its file. */
  stop(): void {
    this.#controller.abort();
  }

  async *#texts(format: 'csv' | 'json', abort: AbortSignal) {
    if (format === 'csv') yield BOM;
    yield* writeBooks(this.#pages(abort), format);
  }

  async *#pages(abort: AbortSignal) {
    const { list, selection } = this.#app;
    for await (const books of this.isSelection ? selection.pages(abort) : list.pages(abort, this.query)) {
      yield books;
      this.written.value += books.length;
    }
  }
}
