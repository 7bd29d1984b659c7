import { useEffect, useMemo } from 'preact/hooks';
import { FORMATS } from '../../../../src/formats/file-format.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { Button } from '../../page/button.tsx';
import { Dialog, StepHeading } from '../../page/dialog.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { Progress } from '../progress.tsx';
import { BookExport } from './book-export.ts';

export function ExportDialog({ isSelection }: { isSelection: boolean }) {
  const t = allTexts.value;
  const bookExport = useMemo(() => new BookExport(isSelection), []);
  useEffect(() => () => bookExport.stop(), []);
  const { value: state } = bookExport.state;
  const { value: written } = bookExport.written;
  const isSaving = state === 'saving';
  const isSaved = state === 'saved';
  return (
    <Dialog label={t.exportBooks} class="files" onDismiss={isSaving ? undefined : closeFileDialog}>
      <StepHeading text={t.exportBooks} note={noteOf(bookExport)} />
      {state === 'ready' ? (
        <FormatChoice bookExport={bookExport} />
      ) : (
        <Progress
          label={t.exportBooks}
          value={isSaved ? 1 : written}
          max={isSaved ? 1 : bookExport.total}
          numbers={isSaved ? undefined : formatMessage(t.exportedSoFar, { count: written })}
          status={isSaved ? formatMessage(t.exportSaved, { count: written }) : ''}
        />
      )}
      <p class="error" role="alert">
        {bookExport.error.value && formatMessage(t.exportFailed, { reason: bookExport.error.value })}
      </p>
      <div class="buttons">
        {isSaving ? (
          <Button text={t.stop} onClick={() => bookExport.stop()} />
        ) : (
          <Button
            text={isSaved ? t.close : t.cancel}
            variant={isSaved ? 'primary' : ''}
            onClick={closeFileDialog}
          />
        )}
        {state === 'ready' && (
          <Button text={t.save} variant="primary" onClick={() => void bookExport.save()} />
        )}
      </div>
    </Dialog>
  );
}

function noteOf({ isSelection, total }: BookExport): string {
  const t = allTexts.value;
  if (total === undefined) return t.exportedSome;
  return formatMessage(isSelection ? t.exportedSelection : t.exported, { count: total });
}

function FormatChoice({ bookExport }: { bookExport: BookExport }) {
  const t = allTexts.value;
  return (
    <fieldset class="formats">
      <legend class="visually-hidden">{t.format}</legend>
      {FORMATS.map((format) => (
        <label key={format}>
          <input
            type="radio"
            name="format"
            value={format}
            checked={bookExport.format.value === format}
            onChange={() => {
              bookExport.format.value = format;
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
