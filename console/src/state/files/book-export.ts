import { signal } from '@preact/signals';
import type { BookQuery } from '../../../../src/client/index.ts';
import { mediaTypeOf, writeBooks } from '../../../../src/formats/rendering.ts';
import type { BookList } from '../book-list.ts';
import type { Selection } from '../selection.ts';
import { queryOf, type ShownView } from '../view.ts';
import { BOM } from './report.ts';
import { chooseTarget } from './save-file.ts';

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
  /** A `BookkeepingError`, or one of the file. */
  readonly error = signal<unknown>(undefined);
  readonly #app: ExportedBooks;
  #controller = new AbortController();

  constructor(app: ExportedBooks, isSelection: boolean) {
    this.#app = app;
    this.query = queryOf(app.address.view.value);
    this.isSelection = isSelection;
    this.total = isSelection ? app.selection.count.value : app.list.total.value;
  }

  /** Saves the file. Browsers require a click for it. @param title the beginning of its name */
  async save(title: string): Promise<void> {
    const { value: format } = this.format;
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.error.value = undefined;
    // The Swedish format is YYYY-MM-DD.
    const name = `${title} ${new Date().toLocaleDateString('sv')}.${format}`;
    const target = await chooseTarget(name, mediaTypeOf(format));
    if (!target) return;
    this.state.value = 'saving';
    this.written.value = 0;
    try {
      if (format === 'csv') await target.write(BOM);
      for await (const text of writeBooks(this.#pages(abort), format)) await target.write(text);
      await target.close();
      this.state.value = 'saved';
    } catch (error) {
      await target.abort().catch(() => {});
      this.state.value = 'ready';
      if (abort.aborted) return;
      this.error.value = error;
    }
  }

  /** Cancels the export and discards its file. */
  stop(): void {
    this.#controller.abort();
  }

  async *#pages(abort: AbortSignal) {
    const { list, selection } = this.#app;
    for await (const books of this.isSelection ? selection.pages(abort) : list.pages(abort, this.query)) {
      yield books;
      this.written.value += books.length;
    }
  }
}
