import { useEffect } from 'preact/hooks';
import type { Book } from '../../../src/client/index.ts';
import { FIELDS } from '../../../src/formats/row.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts, formatYear } from '../language/texts.ts';
import type { App } from '../state/app.ts';
import { visibleText } from '../ui/visible-text.ts';
import { useApp } from './use-app.ts';

/** The most books that are printed; an export takes any number. */
const PRINTED_MAX = 2_000;

/** Prints the first books of the list, which are read if they are not loaded. */
export async function printBooks({ list, toasts }: App): Promise<void> {
  try {
    printed = await list.readRows(0, PRINTED_MAX);
    print();
  } catch {
    toasts.show({ text: () => allTexts.value.notPrinted, isError: true });
  } finally {
    printed = undefined;
  }
}

/** The books that are being printed, if the user did not choose that in a menu of the browser, which does not wait for them. */
let printed: readonly Book[] | undefined;

/** Puts a plain table of the books into the page while it is printed, as the list has only the rows in view. */
export function PrintedBooks() {
  const app = useApp();
  useEffect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    addEventListener(
      'beforeprint',
      () => document.body.append(tableOf(app, printed ?? app.list.loaded.books().slice(0, PRINTED_MAX))),
      { signal },
    );
    addEventListener('afterprint', () => document.querySelector('.printed')?.remove(), { signal });
    return () => listeners.abort();
  }, []);
  return null;
}

function tableOf({ list, address }: App, books: readonly Book[]): HTMLElement {
  const t = allTexts.value;
  const count = list.total.value ?? books.length;
  const caption = [
    address.view.value.q.trim() && formatMessage(t.quotedWord, { word: address.view.value.q.trim() }),
    formatMessage(t.count, { count }),
    books.length < count && formatMessage(t.printedSome, { max: books.length }),
  ];
  const table = element('table', '', [
    element('caption', caption.filter(Boolean).join(' · ')),
    element('thead', '', [row('th', [t.columns.id, ...FIELDS.map((field) => t.columns[field])])]),
    element(
      'tbody',
      '',
      books.map(({ id, title, author, year }) =>
        row('td', [String(id), visibleText(title), visibleText(author), formatYear(year)]),
      ),
    ),
  ]);
  table.className = 'printed';
  return table;
}

const row = (cell: string, texts: readonly string[]) =>
  element(
    'tr',
    '',
    texts.map((text) => element(cell, text)),
  );

function element(name: string, text: string, children: readonly Node[] = []): HTMLElement {
  const made = document.createElement(name);
  made.append(text, ...children);
  return made;
}
