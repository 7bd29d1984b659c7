import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { explain, loadWithTexts, texts } from '../language/texts.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { focusBooks } from '../ui/dialog.tsx';
import { NumberedBook } from './numbered-book.tsx';
import { Search } from './search.tsx';
import { useShortcuts } from './shortcuts.ts';
import { StatusBar } from './status-bar.tsx';
import { Table } from './table/table.tsx';
import { useApp } from './use-app.ts';

const RETRY_MS = 5_000;

export function CataloguePage() {
  const { list, found, dialogs, isNarrow, preferences, session } = useApp();
  const later = useLater();
  useShortcuts();
  const t = texts.value;
  const isChart = preferences.chart.value === 'shown';
  const isReadOnly = session.isReadOnly.value;
  return (
    <>
      <button type="button" class="skip button primary" onClick={() => focusBooks()}>
        {t.skipLink}
      </button>
      <header class="top">
        <p class="mark" aria-hidden="true" />
        <h1>{t.catalogue}</h1>
        {!isNarrow.value && (
          <>
            {!isReadOnly && (
              <LinkButton text={t.import} onClick={() => dialogs.show({ kind: 'import', files: [] })} />
            )}
            <LinkButton
              text={t.export}
              onClick={() => dialogs.show({ kind: 'export', isSelection: false })}
            />
          </>
        )}
        {later ? <later.PageMenu /> : <span class="menu-place">{t.more}</span>}
        {!isReadOnly && (
          <Button text={t.add} variant="primary" onClick={() => dialogs.show({ kind: 'book', id: 'new' })} />
        )}
      </header>
      <main>
        <Search />
        {later && isChart && <later.Chart />}
        {isReadOnly && <p class="read-only quiet">{t.readOnly}</p>}
        <LoadError />
        <section id="books" aria-label={t.books}>
          <NumberedBook />
          {list.isEmpty.value ? later && !found.numbered.value && <later.Empty /> : <Table />}
        </section>
      </main>
      <StatusBar>{later && <later.SelectionBar />}</StatusBar>
      {later && <later.OpenedDialog />}
      {later && <later.Reports />}
      {later && <later.FileDrop />}
    </>
  );
}

/** The code of dialogs, commands and the chart, which is loaded after the first books, so that dialogs open at once. */
function useLater(): typeof import('./later.tsx') | undefined {
  const { list, dialogs, toasts } = useApp();
  const module = useSignal<typeof import('./later.tsx') | undefined>(undefined);
  const attempts = useSignal(0);
  const isNeeded = !list.isLoading.value || dialogs.open.value !== undefined;
  useEffect(() => {
    if (!isNeeded || module.value) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Browsers do not load a module again that they could not load once.
    fetch('.', { method: 'HEAD' })
      .then(() => loadWithTexts(() => import('./later.tsx')))
      .then(
        (loaded) => (module.value = loaded),
        () => {
          if (dialogs.open.peek()) toasts.show({ text: () => texts.value.signInErrors.unreachable });
          timer = setTimeout(() => attempts.value++, RETRY_MS);
        },
      );
    return () => clearTimeout(timer);
  }, [isNeeded, attempts.value]);
  return module.value;
}

/** The error of loading the list, which is retried until it succeeds. */
function LoadError() {
  const { list } = useApp();
  const { value: error } = list.error;
  const hasError = error !== undefined;
  useEffect(() => {
    if (!hasError) return undefined;
    const retry = () => list.retry();
    const timer = setInterval(retry, RETRY_MS);
    addEventListener('online', retry);
    return () => {
      clearInterval(timer);
      removeEventListener('online', retry);
    };
  }, [hasError]);
  return (
    <div role="alert">
      {hasError && (
        <div class="load-error">
          <p>{explain(error)}</p>
          <Button text={texts.value.tryAgain} onClick={() => list.retry()} />
        </div>
      )}
    </div>
  );
}
