import { useEffect, useMemo } from 'preact/hooks';
import { FORMATS } from '../../../../src/formats/file-format.ts';
import { fileTexts } from '../../language/file-texts.ts';
import { Button } from '../../page/button.tsx';
import { Dialog } from '../../page/dialog.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { Progress, StepHeading } from '../progress.tsx';
import { BookExport } from './book-export.ts';

export function ExportDialog() {
  const t = fileTexts.value;
  const of = useMemo(() => new BookExport(), []);
  useEffect(() => () => of.stop(), []);
  const { value: state } = of.state;
  const { value: written } = of.written;
  const isSaving = state === 'saving';
  const isSaved = state === 'saved';
  return (
    <Dialog label={t.exportBooks} class="files" onDismiss={isSaving ? undefined : closeFileDialog}>
      <StepHeading
        text={t.exportBooks}
        note={of.total === undefined ? t.exportedSome : t.exported(of.total)}
      />
      {state === 'ready' ? (
        <FormatChoice of={of} />
      ) : (
        <Progress
          label={t.exportBooks}
          value={isSaved ? 1 : written}
          max={isSaved ? 1 : of.total}
          numbers={isSaved ? undefined : t.exportedSoFar(written)}
          status={isSaved ? t.exportSaved(written) : ''}
        />
      )}
      <p class="fault" role="alert">
        {of.fault.value && t.exportFailed(of.fault.value)}
      </p>
      <div class="buttons">
        {isSaving ? (
          <Button text={t.stop} onClick={() => of.stop()} />
        ) : (
          <Button
            text={isSaved ? t.close : t.cancel}
            is={isSaved ? 'primary' : ''}
            onClick={closeFileDialog}
          />
        )}
        {state === 'ready' && <Button text={t.save} is="primary" onClick={() => void of.save()} />}
      </div>
    </Dialog>
  );
}

function FormatChoice({ of }: { of: BookExport }) {
  const t = fileTexts.value;
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
