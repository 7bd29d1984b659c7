import type { Book } from '../../../src/client/index.ts';
import { deleteBook } from '../book/pending-deletions.ts';
import { bookAt } from '../catalogue/catalogue.ts';
import { formatMessage } from '../language/format.ts';
import { loadWithTexts, texts } from '../language/texts.ts';
import { useModule } from '../page/use-module.ts';
import { clearSelection, selectedCount, setSelected } from './selection.ts';

/** The commands for the selected books, whose code is loaded when a book is selected. */
export function SelectionPanel() {
  const count = selectedCount.value;
  const module = useModule(count > 0, () => import('./selection-bar.tsx'), clearSelection);
  return (
    <>
      <p class="visually-hidden" role="status">
        {count > 0 && formatMessage(texts.value.selected, { count })}
      </p>
      {module && <module.SelectionBar />}
    </>
  );
}

/** Deletes the selected books or, if none is selected, the given one. */
export async function deleteSelectedOr(book: Book): Promise<void> {
  if (selectedCount.value === 0) deleteBook(book);
  else await (await loadWithTexts(() => import('./commands.ts'))).deleteSelected();
}

/** Selects the books of all rows between two rows. Those that are not loaded are read. */
export async function selectRange(one: number, other: number): Promise<void> {
  const start = Math.min(one, other);
  const books = Array.from({ length: Math.abs(one - other) + 1 }, (_, index) => bookAt(start + index));
  setSelected(
    books.filter((book) => book !== undefined),
    true,
  );
  if (books.includes(undefined)) await (await import('./commands.ts')).selectRows(start, books.length);
}
