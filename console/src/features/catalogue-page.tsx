import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { explain, loadWithTexts, preparedPercent, texts } from '../language/texts.ts';
import { Button } from '../ui/button.tsx';
import { focusBooks } from '../ui/dialog.tsx';
import { later } from './later-code.ts';
import { NumberedBook } from './numbered-book.tsx';
import { Search } from './search.tsx';
import { useShortcuts } from './shortcuts.ts';
import { StatusBar } from './status-bar.tsx';
import { Table } from './table/table.tsx';
import { useApp } from './use-app.ts';

const RETRY_MS = 5_000;

export function CataloguePage() {
  const { list, cells, found, dialogs, isNarrow, preferences, session } = useApp();
  /** Whether its button was pressed before there was a menu. */
  const isMenuWanted = useSignal(false);
  const code = useLater(isMenuWanted.value);
  useShortcuts();
  useTitle();
  const t = texts.value;
  const isChart = preferences.chart.value === 'shown';
  const isReadOnly = session.isReadOnly.value;
  return (
    <>
      <button type="button" class="skip button primary" onClick={() => focusBooks()}>
        {t.skipLink}
      </button>
      <header class="top">
        <h1 class="visually-hidden">{t.catalogue}</h1>
        <p class="mark" aria-hidden="true" />
        <Search />
        {code ? (
          <code.PageMenu isOpened={isMenuWanted.value} />
        ) : (
          <button
            type="button"
            class="button ghost menu-button"
            aria-busy={isMenuWanted.value}
            onClick={() => (isMenuWanted.value = true)}
          >
            {t.more}
          </button>
        )}
        {!isReadOnly && (
          <Button
            text={isNarrow.value ? '+' : t.add}
            aria-label={t.add}
            variant="primary"
            onClick={() => dialogs.show({ kind: 'book', id: 'new' })}
          />
        )}
      </header>
      <main>
        {code && isChart && <code.Chart />}
        {isReadOnly && <p class="read-only quiet">{t.readOnly}</p>}
        <LoadError />
        <section id="books" aria-label={t.books}>
          <NumberedBook />
          {list.isEmpty.value && !cells.open.value ? (
            code && !found.numbered.value && <code.Empty />
          ) : (
            <Table />
          )}
        </section>
      </main>
      <StatusBar>{code && <code.SelectionBar />}</StatusBar>
      {code && <code.OpenedDialog />}
      {code && <code.Reports />}
      {code && <code.FileDrop />}
      {code && <code.PrintedBooks />}
    </>
  );
}

/**
 * The code of dialogs, commands and the chart, which is loaded after the first response for the list, so that dialogs open at once.
 *
 * @param isWanted whether the user waits for it
 */
function useLater(isWanted: boolean) {
  const { list, cells, dialogs, toasts } = useApp();
  const attempts = useSignal(0);
  const hasResponse = !list.isLoading.value || list.error.value !== undefined;
  const isNeeded =
    isWanted || hasResponse || cells.open.value !== undefined || dialogs.open.value !== undefined;
  useEffect(() => {
    if (!isNeeded || later.value) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Browsers do not load a module again that they could not load once.
    fetch('.', { method: 'HEAD' })
      .then(() => loadWithTexts(() => import('./later.tsx')))
      .then(
        (loaded) => (later.value = loaded),
        () => {
          if (isWanted || dialogs.open.peek())
            toasts.show({ text: () => texts.value.signInErrors.unreachable, isError: true });
          timer = setTimeout(() => attempts.value++, RETRY_MS);
        },
      );
    return () => clearTimeout(timer);
  }, [isNeeded, attempts.value]);
  return later.value;
}

/** Names the search in the title of the page. */
function useTitle() {
  const { q, from, to } = useApp().address.view.value;
  const { catalogue } = texts.value;
  const years = from === undefined && to === undefined ? '' : `${from ?? ''}–${to ?? ''}`;
  useEffect(() => {
    document.title = [q.trim(), years, catalogue].filter(Boolean).join(' – ');
  }, [q, years, catalogue]);
}

/** The error of loading the list. The list asks again by itself; here at once, when the user says so or the network is back. */
function LoadError() {
  const { list } = useApp();
  const { value: error } = list.error;
  const hasError = error !== undefined;
  const isPrepared = preparedPercent(error) === undefined;
  useEffect(() => {
    if (!hasError) return undefined;
    const retry = () => list.retry();
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  }, [hasError]);
  return (
    <div role="alert">
      {hasError && (
        <div class={isPrepared ? 'load-error' : 'load-error note'}>
          <p>{explain(error)}</p>
          {isPrepared && <Button text={texts.value.tryAgain} onClick={() => list.retry()} />}
        </div>
      )}
    </div>
  );
}
