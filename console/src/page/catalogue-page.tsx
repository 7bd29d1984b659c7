import { useEffect } from 'preact/hooks';
import { sendPendingDeletions } from '../book/pending-deletions.ts';
import { isEmpty, isLoading, loadError, retry } from '../catalogue/catalogue.ts';
import { columnOf, SORTS } from '../catalogue/sort.ts';
import { Table } from '../catalogue/table.tsx';
import { isChartShown, isNarrow } from '../chart/chart-toggle.tsx';
import { FileDialogs } from '../files/file-dialogs.tsx';
import { openDuplicates, openExport, openImport } from '../files/opened-dialog.ts';
import { GoTo, GoToButton } from '../go-to/go-to.tsx';
import { RecentlyDeleted } from '../history/history-views.tsx';
import { explain, texts } from '../language/texts.ts';
import { BookCount } from '../search/book-count.tsx';
import { numberedBook } from '../search/found-books.ts';
import { NumberedBook } from '../search/numbered-book.tsx';
import { Search } from '../search/search.tsx';
import { SelectionPanel } from '../selection/selection-panel.tsx';
import { signOut } from '../session/session.ts';
import { show, view } from './address.ts';
import { Button, LinkButton } from './button.tsx';
import { DensityMenu, PreferenceMenus } from './preference-menus.tsx';
import { openShortcutHelp, Shortcuts } from './shortcuts.tsx';
import { Toasts } from './toasts.tsx';
import { useModule } from './use-module.ts';

export function CataloguePage() {
  const t = texts.value;
  return (
    <>
      <a class="skip" href="#books">
        {t.skipLink}
      </a>
      <header class="top">
        <p class="mark" aria-hidden="true" />
        <h1>{t.catalogue}</h1>
        <BookCount />
        {!isNarrow.value && <GoToButton />}
        <div class="file-links">
          <LinkButton text={t.import} onClick={() => openImport()} />
          <LinkButton text={t.export} onClick={() => openExport()} />
          <LinkButton text={t.duplicates} onClick={openDuplicates} />
          <RecentlyDeleted />
        </div>
        <LinkButton text={t.signOut} onClick={() => void sendPendingDeletions().then(signOut)} />
        <Button text={t.add} variant="primary" onClick={() => show({ book: 'new' })} />
      </header>
      <main>
        <Search />
        <Chart />
        <LoadError />
        {!isEmpty.value && <SortMenu />}
        <section id="books" aria-label={t.books}>
          <NumberedBook />
          {isEmpty.value ? !numberedBook.value && <Empty /> : <Table />}
        </section>
      </main>
      <footer class="bottom">
        <SelectionPanel />
        <LinkButton text={t.shortcuts} variant="keys-link" onClick={openShortcutHelp} />
        <a class="link" href="../docs">
          {t.apiPage}
        </a>
        <PreferenceMenus />
        <DensityMenu />
        <Toasts />
      </footer>
      <BookDialog />
      <FileDialogs />
      <GoTo />
      <Shortcuts />
    </>
  );
}

/** The chart, whose code is loaded when it is shown. */
function Chart() {
  const module = useModule(isChartShown.value, () => import('../chart/chart.tsx'));
  if (!isChartShown.value) return null;
  return <div class={isEmpty.value ? '' : 'chart-place'}>{module && <module.Chart />}</div>;
}

/** What is shown instead of no books, whose code is loaded after the first books. */
function Empty() {
  const module = useModule(!isLoading.value, () => import('../search/empty.tsx'));
  return module && <module.Empty />;
}

/** The dialog of a book, whose code is loaded after the first books, so that it opens at once. */
function BookDialog() {
  const isNeeded = !isLoading.value || view.value.book !== undefined;
  const module = useModule(isNeeded, () => import('../book/book-dialog.tsx'));
  return module && <module.BookDialog />;
}

/** The error of loading the list, which is retried until it succeeds. */
function LoadError() {
  const hasError = loadError.value !== undefined;
  useEffect(() => {
    if (!hasError) return undefined;
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
          <p>{explain(loadError.value)}</p>
          <Button text={texts.value.tryAgain} onClick={retry} />
        </div>
      )}
    </div>
  );
}

const RETRY_MS = 5_000;

/** The menu of sort orders, for screens on which the table has no header, and what its header has no room for. */
function SortMenu() {
  const t = texts.value;
  return (
    <div class="sort-menu">
      {isNarrow.value && <GoToButton />}
      <label>
        <span>{t.sortBy}</span>
        <select
          value={view.value.sort}
          onChange={({ currentTarget }) => show({ sort: currentTarget.value as typeof view.value.sort })}
        >
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {t.columns[columnOf(sort)]} {sort === columnOf(sort) ? '↑' : '↓'}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
