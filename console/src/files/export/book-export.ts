import { signal } from '@preact/signals';
import { BookkeepingError } from '../../../../src/client/index.ts';
import type { Format } from '../../../../src/formats/file-format.ts';
import { mediaTypeOf, writeBooks } from '../../../../src/formats/rendering.ts';
import { isLeaving, total } from '../../catalogue/catalogue.ts';
import { explain } from '../../language/explain.ts';
import { texts } from '../../language/file-texts.ts';
import { queryOf, view } from '../../page/address.ts';
import { client } from '../../session/session.ts';
import { BOM } from '../read/report.ts';
import { chooseTarget } from './save-file.ts';

/** So many books come in one response: the most that the service gives. */
const PAGE_BOOKS = 1_000;

/** An export of what is shown at the moment, as the dialog shows it. */
export class BookExport {
  /** What was shown when the dialog was opened. */
  readonly query = queryOf(view.value);
  /** How many books that is, as far as it is known. */
  readonly total = total.value;
  readonly format = signal<Format>('csv');
  readonly state = signal<'ready' | 'saving' | 'saved'>('ready');
  readonly written = signal(0);
  /** Why nothing has been saved. */
  readonly fault = signal<string | undefined>(undefined);
  #abortion = new AbortController();

  /** Has to be called while a click is handled. */
  async save(): Promise<void> {
    const { value: format } = this.format;
    this.#abortion = new AbortController();
    const { signal: mine } = this.#abortion;
    this.fault.value = undefined;
    const type = mediaTypeOf(format);
    const target = await chooseTarget(`${texts.value.fileName} ${dateOf(new Date())}.${format}`, type);
    if (!target) return;
    this.state.value = 'saving';
    this.written.value = 0;
    try {
      if (format === 'csv') await target.write(BOM);
      for await (const text of writeBooks(this.#pages(mine), format)) await target.write(text);
      await target.close();
      this.state.value = 'saved';
    } catch (error) {
      await target.abort().catch(() => {});
      this.state.value = 'ready';
      if (!mine.aborted) this.fault.value = reasonOf(error);
    }
  }

  /** Ends the export; nothing is left of it. */
  stop(): void {
    this.#abortion.abort();
  }

  async *#pages(mine: AbortSignal) {
    for await (const page of client.list({ ...this.query, limit: PAGE_BOOKS }, { signal: mine }).pages()) {
      const books = page.books.filter((book) => !isLeaving(book));
      yield books;
      this.written.value += books.length;
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof BookkeepingError ? explain(error) : texts.value.diskFault;
}

/** A date as files are named: 2026-11-21. */
function dateOf(date: Date): string {
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((number) => String(number).padStart(2, '0'));
  return `${date.getFullYear()}-${month}-${day}`;
}
