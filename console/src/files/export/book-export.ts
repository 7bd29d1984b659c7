import { signal } from '@preact/signals';
import { BookkeepingError } from '../../../../src/client/index.ts';
import type { Format } from '../../../../src/formats/file-format.ts';
import { mediaTypeOf, writeBooks } from '../../../../src/formats/rendering.ts';
import { isLeaving, total } from '../../catalogue/catalogue.ts';
import { fileTexts } from '../../language/file-texts.ts';
import { explain } from '../../language/texts.ts';
import { queryOf, view } from '../../page/address.ts';
import { client } from '../../session/session.ts';
import { BOM } from '../read/report.ts';
import { PAGE_BOOKS } from '../store/known-books.ts';
import { chooseTarget } from './save-file.ts';

/** An export of the books that were listed when the dialog was opened. */
export class BookExport {
  readonly query = queryOf(view.value);
  readonly total = total.value;
  readonly format = signal<Format>('csv');
  readonly state = signal<'ready' | 'saving' | 'saved'>('ready');
  readonly written = signal(0);
  readonly fault = signal<string | undefined>(undefined);
  #abortion = new AbortController();

  /** Saves the file. Call it during a click. */
  async save(): Promise<void> {
    const { value: format } = this.format;
    this.#abortion = new AbortController();
    const { signal: abort } = this.#abortion;
    this.fault.value = undefined;
    // Swedish dates are YYYY-MM-DD.
    const name = `${fileTexts.value.fileName} ${new Date().toLocaleDateString('sv')}.${format}`;
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
      this.fault.value = error instanceof BookkeepingError ? explain(error) : fileTexts.value.diskFault;
    }
  }

  /** Cancels the export and discards its file. */
  stop(): void {
    this.#abortion.abort();
  }

  async *#pages(abort: AbortSignal) {
    for await (const page of client.list({ ...this.query, limit: PAGE_BOOKS }, { signal: abort }).pages()) {
      const books = page.books.filter((book) => !isLeaving(book));
      yield books;
      this.written.value += books.length;
    }
  }
}
