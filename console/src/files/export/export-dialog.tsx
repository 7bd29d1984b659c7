import { useEffect, useMemo } from 'preact/hooks';
import { FORMATS } from '../../../../src/formats/file-format.ts';
import { texts } from '../../language/file-texts.ts';
import { formatNumber } from '../../language/language.ts';
import { Dialog } from '../../page/dialog.tsx';
import { DialogHeading } from '../dialog-heading.tsx';
import { closeFiles } from '../opened-dialog.ts';
import { BookExport } from './book-export.ts';

/** Saves what is shown as a file. */
export function ExportDialog() {
  const t = texts.value;
  const of = useMemo(() => new BookExport(), []);
  useEffect(() => () => of.stop(), []);
  const { value: state } = of.state;
  const { total } = of;
  return (
    <Dialog label={t.exportBooks} class="files" onDismiss={state === 'saving' ? undefined : closeFiles}>
      <DialogHeading
        text={t.exportBooks}
        note={total === undefined ? t.exportedSome : t.exported(total, formatNumber(total))}
      />
      {state === 'ready' ? <FormatChoice of={of} /> : <ExportProgress of={of} />}
      <p class="fault" role="alert">
        {of.fault.value && t.notSaved(of.fault.value)}
      </p>
      <div class="buttons">
        {state === 'saving' && (
          <button type="button" class="button" onClick={() => of.stop()}>
            {t.stop}
          </button>
        )}
        {state !== 'saving' && (
          <button type="button" class={state === 'saved' ? 'button primary' : 'button'} onClick={closeFiles}>
            {state === 'saved' ? t.close : t.cancel}
          </button>
        )}
        {state === 'ready' && (
          <button type="button" class="button primary" onClick={() => void of.save()}>
            {t.save}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function FormatChoice({ of }: { of: BookExport }) {
  const t = texts.value;
  return (
    <fieldset class="formats">
      <legend class="unseen">{t.format}</legend>
      {FORMATS.map((format) => (
        <label key={format}>
          <input
            type="radio"
            name="format"
            value={format}
            checked={of.format.value === format}
            onChange={() => {
              of.format.value = format;
            }}
          />
          <span>
            <strong>{t.formats[format]}</strong>
            <span class="quiet">{t.formatHints[format]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function ExportProgress({ of }: { of: BookExport }) {
  const t = texts.value;
  const { value: written } = of.written;
  const isSaved = of.state.value === 'saved';
  return (
    <div class="under-way">
      <progress value={isSaved ? 1 : of.total ? written / of.total : undefined} aria-label={t.exportBooks} />
      <p class="numbers">{!isSaved && t.saving(written, formatNumber(written))}</p>
      <p role="status">{isSaved && t.saved(written, formatNumber(written))}</p>
    </div>
  );
}
