import type { Book } from 'bookkeeping-client/index.ts';
import { FIELDS } from 'bookkeeping-formats/row.ts';
import { render } from 'preact';
import { formatMessage } from '../language/format.ts';
import { allTexts, formatYear } from '../language/texts.ts';
import type { App } from '../state/app.ts';
import { useListeners } from '../ui/use-listeners.ts';
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
  useListeners((signal) => {
    const place = document.body.appendChild(document.createElement('div'));
    signal.addEventListener('abort', () => place.remove());
    addEventListener('beforeprint', () => render(tableOf(app, printed ?? firstLoaded(app)), place), {
      signal,
    });
    addEventListener('afterprint', () => render(null, place), { signal });
  });
  return null;
}

/** The books that are loaded without a gap from the first one on. */
function firstLoaded({ list }: App): readonly Book[] {
  return list.loaded
    .books()
    .slice(0, PRINTED_MAX)
    .filter((book, row) => list.at(row) === book);
}

function tableOf({ list, address }: App, books: readonly Book[]) {
  const t = allTexts.value;
  const count = list.total.value ?? books.length;
  const word = address.view.value.q.trim();
  const caption = [
    word && formatMessage(t.quotedWord, { word }),
    formatMessage(t.count, { count }),
    books.length < count && formatMessage(t.printedSome, { max: books.length }),
  ];
  return (
    <table class="printed">
      <caption>{caption.filter(Boolean).join(' · ')}</caption>
      <thead>
        <tr>
          {(['id', ...FIELDS] as const).map((column) => (
            <th key={column}>{t.columns[column]}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {books.map((book) => (
          <tr key={book.id}>
            <td>{book.id}</td>
            {FIELDS.map((field) => (
              <td key={field}>{field === 'year' ? formatYear(book.year) : visibleText(book[field])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
