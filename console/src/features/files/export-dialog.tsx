import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import { BookExport } from '../../state/files/book-export.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, StepHeading } from '../../ui/dialog.tsx';
import { Progress } from '../../ui/progress.tsx';
import { useApp } from '../use-app.ts';

export function ExportDialog({ isSelection }: { isSelection: boolean }) {
  const app = useApp();
  const close = () => app.dialogs.close();
  const t = allTexts.value;
  const bookExport = useMemo(() => new BookExport(app, isSelection), []);
  useEffect(() => () => bookExport.stop(), []);
  const { value: state } = bookExport.state;
  const { value: written } = bookExport.written;
  const { value: error } = bookExport.error;
  const buttons = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that had it was replaced.
    if (document.activeElement === document.body) buttons.current?.querySelector('button')?.focus();
  }, [state]);
  const isSaving = state === 'saving';
  const isSaved = state === 'saved';
  return (
    <Dialog label={t.exportBooks} onDismiss={isSaving ? undefined : close}>
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
        {error !== undefined && formatMessage(t.exportFailed, { reason: explain(error) })}
      </p>
      <div ref={buttons} class="buttons">
        {isSaving ? (
          <Button text={t.stop} onClick={() => bookExport.stop()} />
        ) : (
          <Button text={isSaved ? t.close : t.cancel} variant={isSaved ? 'primary' : ''} onClick={close} />
        )}
        {state === 'ready' && (
          <Button text={t.save} variant="primary" onClick={() => void bookExport.save(t.fileName)} />
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
    <fieldset class="step">
      <legend class="visually-hidden">{t.format}</legend>
      {(['csv', 'json'] as const).map((format) => (
        <label key={format} class="checkbox">
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
