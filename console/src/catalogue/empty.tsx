import { openImport } from '../files/opened-dialog.ts';
import { texts } from '../language/language.ts';
import { show, view } from '../page/address.ts';

/** What stands in place of the table when there is no book to show. */
export function Empty() {
  const t = texts.value;
  const { q, from, to } = view.value;
  const isSearch = q.trim() !== '' || from !== undefined || to !== undefined;
  return (
    <div class="empty">
      <p class="lead">{isSearch ? t.nothingFound : t.noBooks}</p>
      <p class="quiet">{isSearch ? t.nothingFoundHint : t.noBooksHint}</p>
      {isSearch ? (
        <button type="button" class="button" onClick={() => show({ q: '', from: undefined, to: undefined })}>
          {t.showAll}
        </button>
      ) : (
        <div class="buttons">
          <button type="button" class="button" onClick={() => openImport()}>
            {t.importFile}
          </button>
          <button type="button" class="button primary" onClick={() => show({ book: 'new' })}>
            {t.add}
          </button>
        </div>
      )}
    </div>
  );
}
