import { texts } from '../language/language.ts';
import { openExport, openImport } from './opened-dialog.ts';

/** The ways to the dialogs for files. */
export function FileLinks() {
  const t = texts.value;
  return (
    <div class="file-links">
      <button type="button" class="link" onClick={() => openImport()}>
        {t.import}
      </button>
      <button type="button" class="link" onClick={openExport}>
        {t.export}
      </button>
    </div>
  );
}
