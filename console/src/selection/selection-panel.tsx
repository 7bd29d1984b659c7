import type { Book } from '../../../src/client/index.ts';
import { deleteBook } from '../book/pending-deletions.ts';
import { formatMessage } from '../language/format.ts';
import { loadWithTexts, texts } from '../language/texts.ts';
import { useModule } from '../page/use-module.ts';
import { clearSelection, selectedCount } from './selection.ts';

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
