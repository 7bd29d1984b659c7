import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { Button } from '../../ui/button.tsx';
import { useApp } from '../use-app.ts';
import type { ImportStepProps } from './choose-file.tsx';
import { InvalidRows } from './invalid-rows.tsx';
import { MappingForm } from './mapping-form.tsx';
import { Preview } from './preview.tsx';

/** The preview of an import, before it starts. */
export function ImportPlan({ choice, fileImport }: ImportStepProps) {
  const { dialogs } = useApp();
  const t = allTexts.value;
  const { value: check } = fileImport.check;
  const { value: canStart } = fileImport.canStart;
  return (
    <>
      {fileImport.file.encoding === 'windows-1252' && <p class="note">{t.windows1252}</p>}
      <MappingForm choice={choice} fileImport={fileImport} />
      <Preview fileImport={fileImport} />
      <div class="step">
        <p role="status">
          {check ? (
            <>
              <strong>
                {check.valid > 0 ? formatMessage(t.validRows, { count: check.valid }) : t.noValidRows}
              </strong>{' '}
              {check.invalid > 0 && formatMessage(t.invalidRows, { count: check.invalid })}
            </>
          ) : (
            t.checking
          )}
        </p>
        {check && check.nameless > 0 && (
          <p class="note">{formatMessage(t.namelessRows, { count: check.nameless })}</p>
        )}
        {!check && <progress value={fileImport.checkedPart.value} aria-label={t.checking} />}
        <InvalidRows fileImport={fileImport} />
        {check && check.valid > 0 && <ExistingBooksOption fileImport={fileImport} />}
      </div>
      <div class="buttons">
        <Button text={t.chooseAnother} variant="ghost first" onClick={() => choice.close()} />
        <Button text={t.cancel} onClick={() => dialogs.close()} />
        <Button
          text={formatMessage(t.startImport, { count: fileImport.total.value })}
          variant="primary"
          aria-disabled={!canStart}
          onClick={() => canStart && void fileImport.start()}
        />
      </div>
    </>
  );
}

/** The option to skip existing books, and their number. */
function ExistingBooksOption({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: error } = fileImport.error;
  const { value: count } = fileImport.skipped;
  const { value: skips } = fileImport.skipsExisting;
  return (
    <div>
      <label class="checkbox">
        <input
          type="checkbox"
          checked={skips}
          onChange={({ currentTarget }) => fileImport.skipExisting(currentTarget.checked)}
        />
        <span>{t.skipExisting}</span>
      </label>
      <p role="status" class={error ? 'error' : 'quiet'}>
        {skips &&
          (error
            ? formatMessage(t.notSearched, { reason: explain(error) })
            : fileImport.existing.value
              ? count > 0 && formatMessage(t.existing, { count })
              : t.searchingExisting)}
      </p>
      {skips && error && (
        <Button variant="ghost" text={t.tryAgain} onClick={() => fileImport.skipExisting(true)} />
      )}
    </div>
  );
}
