import { useEffect } from 'preact/hooks';
import { BookDialog } from '../book/book-dialog.tsx';
import { sendAll } from '../book/pending-deletions.ts';
import { fault, isEmpty, isLoading, retry, shownPart, total } from '../catalogue/catalogue.ts';
import { Chart } from '../catalogue/chart.tsx';
import { Empty } from '../catalogue/empty.tsx';
import { Search } from '../catalogue/search.tsx';
import { COLUMNS } from '../catalogue/sort.ts';
import { Table } from '../catalogue/table.tsx';
import { FileDialogs } from '../files/file-dialogs.tsx';
import { FileLinks } from '../files/file-links.tsx';
import { explain } from '../language/explain.ts';
import { formatNumber, texts } from '../language/language.ts';
import { signOut } from '../session/session.ts';
import { show, view } from './address.ts';
import { areKeysShown, Keys } from './keys.tsx';
import { Choices } from './preference-menus.tsx';
import { useShortcuts } from './shortcuts.tsx';
import { Toasts } from './toasts.tsx';

/** The catalogue, and what lies over it. */
export function CataloguePage() {
  const t = texts.value;
  useShortcuts();
  return (
    <>
      <a class="skip" href="#books">
        {t.skip}
      </a>
      <header class="top">
        <p class="mark" aria-hidden="true" />
        <button type="button" class="link keys-link" onClick={showKeys}>
          {t.keys}
        </button>
        <Choices />
        <button type="button" class="link" onClick={() => void sendAll().then(signOut)}>
          {t.signOut}
        </button>
      </header>
      <main>
        <div class="heading">
          <h1>{t.catalogue}</h1>
          <Count />
          <FileLinks />
          <div class="actions">
            <button type="button" class="button primary" onClick={() => show({ book: 'new' })}>
              {t.add}
            </button>
          </div>
        </div>
        <Search />
        <Chart />
        <Trouble />
        <SortChoice />
        <ShownPartNote />
        <section id="books" aria-label={t.books}>
          {isEmpty.value ? <Empty /> : <Table />}
        </section>
        <ShownPartNote />
      </main>
      <Toasts />
      <BookDialog />
      <FileDialogs />
      <Keys />
    </>
  );
}

function showKeys(): void {
  areKeysShown.value = true;
}

/** How many books are shown. It is read out whenever it changes. */
function Count() {
  const t = texts.value;
  const count = total.value;
  return (
    <p class="count" role="status" aria-busy={isLoading.value}>
      {count !== undefined && t.count(count, formatNumber(count))}
    </p>
  );
}

/** Says, above the list and below it, that it is longer than what a browser can show. */
function ShownPartNote() {
  const part = shownPart();
  if (!part) return null;
  const { first, last, count } = part;
  const lastText = last === 0 ? '' : formatNumber(last);
  return (
    <p class="shown-part">{texts.value.shownPart(formatNumber(first), lastText, formatNumber(count))}</p>
  );
}

/** Why books are missing, and a way on; it is tried by itself, too. */
function Trouble() {
  const hasFault = fault.value !== undefined;
  useEffect(() => {
    if (!hasFault) return undefined;
    const timer = setInterval(retry, RETRY_MS);
    addEventListener('online', retry);
    return () => {
      clearInterval(timer);
      removeEventListener('online', retry);
    };
  }, [hasFault]);
  return (
    <div role="alert">
      {hasFault && (
        <div class="trouble">
          <p>{explain(fault.value)}</p>
          <button type="button" class="button" onClick={retry}>
            {texts.value.tryAgain}
          </button>
        </div>
      )}
    </div>
  );
}

const RETRY_MS = 5_000;

/** The order, where there is no room for the heads of columns. */
function SortChoice() {
  const t = texts.value;
  return (
    <label class="sort-choice">
      <span>{t.sortBy}</span>
      <select
        value={view.value.sort}
        onChange={({ currentTarget }) => show({ sort: currentTarget.value as typeof view.value.sort })}
      >
        {COLUMNS.flatMap((column) => [
          <option key={column} value={column}>
            {t.columns[column]} ↑
          </option>,
          <option key={`-${column}`} value={`-${column}`}>
            {t.columns[column]} ↓
          </option>,
        ])}
      </select>
    </label>
  );
}
