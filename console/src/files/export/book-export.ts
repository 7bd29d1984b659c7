import { signal } from '@preact/signals';
import { BookkeepingError } from '../../../../src/client/index.ts';
import type { Format } from '../../../../src/formats/file-format.ts';
import { mediaTypeOf, writeBooks } from '../../../../src/formats/rendering.ts';
import { shownPages } from '../../book/hidden-books.ts';
import { total } from '../../catalogue/catalogue.ts';
import { allTexts, explain } from '../../language/texts.ts';
import { queryOf, view } from '../../page/address.ts';
import { selectedCount, selectedPages } from '../../selection/selection.ts';
import { BOM } from '../read/report.ts';
import { chooseTarget } from './save-file.ts';

/** An export of the books that are listed or selected when it is created. */
export class BookExport {
  readonly query = queryOf(view.value);
  readonly isSelection: boolean;
  readonly total: number | undefined;
  readonly format = signal<Format>('csv');
  readonly state = signal<'ready' | 'saving' | 'saved'>('ready');
  readonly written = signal(0);
  readonly error = signal<string | undefined>(undefined);
  #controller = new AbortController();

  constructor(isSelection: boolean) {
    this.isSelection = isSelection;
    this.total = isSelection ? selectedCount.value : total.value;
  }

  /** Saves the file. Browsers require a click for it. */
  async save(): Promise<void> {
    const { value: format } = this.format;
    this.#controller = new AbortController();
    const { signal: abort } = this.#controller;
    this.error.value = undefined;
    // The Swedish format is YYYY-MM-DD.
    const name = `${allTexts.value.fileName} ${new Date().toLocaleDateString('sv')}.${format}`;
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
      this.error.value = error instanceof BookkeepingError ? explain(error) : allTexts.value.diskError;
    }
  }

  /** Cancels the export and discards its file. */
  stop(): void {
    this.#controller.abort();
  }

  async *#pages(abort: AbortSignal) {
    for await (const books of this.isSelection ? selectedPages(abort) : shownPages(this.query, abort)) {
      yield books;
      this.written.value += books.length;
    }
  }
}
