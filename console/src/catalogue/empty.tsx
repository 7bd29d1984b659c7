import { openImport } from '../files/opened-dialog.ts';
import { texts } from '../language/texts.ts';
import { show, view } from '../page/address.ts';
import { Button } from '../page/button.tsx';

/** Shown instead of the table when there is no book to show. */
export function Empty() {
  const t = texts.value;
  const { q, from, to } = view.value;
  const isSearch = q.trim() !== '' || from !== undefined || to !== undefined;
  return (
    <div class="empty">
      <p class="lead">{isSearch ? t.nothingFound : t.noBooks}</p>
      <p class="quiet">{isSearch ? t.nothingFoundHint : t.noBooksHint}</p>
      {isSearch ? (
        <Button text={t.showAll} onClick={() => show({ q: '', from: undefined, to: undefined })} />
      ) : (
        <div class="buttons">
          <Button text={t.importFile} onClick={() => openImport()} />
          <Button text={t.add} variant="primary" onClick={() => show({ book: 'new' })} />
        </div>
      )}
    </div>
  );
}
