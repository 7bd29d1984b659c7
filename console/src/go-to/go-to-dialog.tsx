import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { rowAt } from '../book/hidden-books.ts';
import { add, firstPage, rowCount } from '../catalogue/catalogue.ts';
import { columnOf } from '../catalogue/sort.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { queryOf, readInteger, view } from '../page/address.ts';
import { Button } from '../page/button.tsx';
import { Dialog } from '../page/dialog.tsx';
import { showBriefly } from '../page/toasts.tsx';

/** More than the rows of any window. */
const PAGE_BOOKS = 100;

interface GoToDialogProps {
  readonly onFound: (row: number) => void;
  readonly onClose: () => void;
}

/** Asks for a text or a number of the column by which the list is sorted, and goes to its first book from there on. */
export function GoToDialog({ onFound, onClose }: GoToDialogProps) {
  const t = allTexts.value;
  const text = useSignal('');
  const error = useSignal<string | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  const controller = useRef(new AbortController());
  const column = columnOf(view.value.sort);
  const isNumber = column === 'id' || column === 'year';

  useEffect(() => () => controller.current.abort(), []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    controller.current.abort();
    controller.current = new AbortController();
    const { signal: abort } = controller.current;
    const key = isNumber ? readInteger(text.value) : text.value;
    try {
      error.value = key === undefined ? t.wholeNumber : undefined;
      if (key === undefined) return input.current?.focus();
      onFound(await findRow(key, abort));
      onClose();
    } catch (reason) {
      if (!abort.aborted) error.value = explain(reason);
    }
  }

  return (
    <Dialog label={t.goTo} onDismiss={onClose}>
      <form class="book-form" onSubmit={(event) => void submit(event)}>
        <h2>{t.goTo}</h2>
        <label class={`field ${column}`}>
          <span>{t.goToLabels[column]}</span>
          <input
            ref={input}
            autoFocus
            autocomplete="off"
            dir="auto"
            value={text.value}
            aria-invalid={error.value !== undefined}
            aria-describedby="go-to-error"
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
            }}
          />
        </label>
        <p id="go-to-error" class="error" role="alert">
          {error.value}
        </p>
        <div class="buttons">
          <Button text={t.cancel} onClick={onClose} />
          <Button text={t.go} variant="primary" type="submit" />
        </div>
      </form>
    </Dialog>
  );
}

/** Loads the first books from a key on. @returns the row of the first one, or the last row */
async function findRow(from: string | number, abort: AbortSignal): Promise<number> {
  const query = { ...queryOf(view.value), from, limit: PAGE_BOOKS, count: true };
  const page = await firstPage(query, abort);
  const start = rowAt(page.offset ?? 0);
  if (page.books.length > 0) add({ start, after: undefined }, page);
  const count = rowCount();
  const row = Math.min(start, count - 1);
  showBriefly({ text: () => formatMessage(allTexts.value.rowOf, { row: row + 1, count }) });
  return row;
}
