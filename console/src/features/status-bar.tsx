import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, preparedPercent, texts } from '../language/texts.ts';
import { Button } from '../ui/button.tsx';
import { focusBooks } from '../ui/dialog.tsx';
import { later } from './later-code.ts';
import { useApp } from './use-app.ts';

/** The bar at the lower edge, which is always in view: the number of books, notifications, and the commands for selected books. */
export function StatusBar({ children }: { readonly children: ComponentChildren }) {
  const { value: code } = later;
  return (
    <footer class="bottom">
      <p class="visually-hidden" role="status">
        {code && <code.SelectedCount />}
      </p>
      {children}
      <BookCount />
      <ToastBox />
    </footer>
  );
}

const SAVED_MS = 3_000;

/** Whether changes are being saved, why they cannot be, and for a moment that they are. */
function SaveState() {
  const { operations, connection } = useApp();
  const t = texts.value;
  const isSaved = useSignal(false);
  const { value: stored } = operations.stored;
  useEffect(() => {
    if (stored === 0) return undefined;
    isSaved.value = true;
    const timer = setTimeout(() => (isSaved.value = false), SAVED_MS);
    return () => clearTimeout(timer);
  }, [stored]);
  const isPending = operations.pending.value > 0;
  const { value: obstacle } = connection.obstacle;
  return (
    <>
      <p class="unsaved" role="status">
        {isPending && obstacle && t.unsaved[obstacle]}
      </p>
      <p class="quiet" aria-hidden="true">
        {isPending ? !obstacle && t.saving : isSaved.value && t.saved}
      </p>
    </>
  );
}

/** The rows in view, the number of matches, of all books, and of those that are new and not in the list. */
function BookCount() {
  const { list, found, history, address, session } = useApp();
  const t = texts.value;
  const { value: count } = list.total;
  const { value: total } = found.all;
  const { value: newBooks } = history.newBooks;
  /** Which is explained above the list, where it may not be in view. */
  const { value: error } = list.error;
  const { first, last } = list.inView.value;
  return (
    <>
      <div class="place">
        <p class="count" role="status">
          {count === undefined
            ? list.isUncounted.value && t.counting
            : address.isSearch.value && total !== undefined && error === undefined
              ? formatMessage(t.countOf, { count, total: Math.max(count, total) })
              : formatMessage(t.count, { count })}
        </p>
        <p aria-hidden="true">
          {count !== undefined && count > 0 && error === undefined && (
            <span class="quiet">{formatMessage(t.rowsInView, { first: first + 1, last: last + 1 })}</span>
          )}
        </p>
        <p class="unsaved" aria-hidden="true">
          {error !== undefined && preparedPercent(error) === undefined && t.notLoaded}
        </p>
        {!session.isReadOnly.value && <SaveState />}
      </div>
      {newBooks > 0 && (
        <Button
          variant="ghost"
          text={formatMessage(t.showNewBooks, { count: newBooks })}
          onClick={() => {
            void list.reload();
            if (address.view.value.sort === '-id') scrollTo(0, 0);
            focusBooks({ preventScroll: true });
          }}
        />
      )}
    </>
  );
}

/** The end of its animation closes a toast that is no error; the pointer or the focus in it pauses the animation. */
function ToastBox() {
  const { toasts } = useApp();
  const { value: toast } = toasts.shown;
  function close(): void {
    toasts.show(undefined);
    // The button that had the focus disappears.
    focusBooks({ preventScroll: true });
  }
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toast && (
        <div
          key={toast}
          class={toast.isError ? 'toast failed' : 'toast'}
          onAnimationEnd={() => toasts.show(undefined)}
        >
          <p>{toast.text()}</p>
          {toast.actions?.map(({ label, run, keepsFocus }) => (
            <Button
              key={label()}
              variant="ghost"
              text={label()}
              onMouseDown={(event: MouseEvent) => keepsFocus && event.preventDefault()}
              onClick={() => {
                if (keepsFocus) toasts.show(undefined);
                else close();
                run();
              }}
            />
          ))}
          {toast.isError && (
            <Button text="✕" aria-label={allTexts.value.closeMessage} variant="ghost" onClick={close} />
          )}
        </div>
      )}
    </div>
  );
}
