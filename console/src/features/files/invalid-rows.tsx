import { useSignal } from '@preact/signals';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { ERRORS_SHOWN_MAX } from '../../state/files/check-file.ts';
import { UnreadableFileError } from '../../state/files/file-bytes.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { reportOf } from '../../state/files/report.ts';
import { download } from '../../state/files/save-file.ts';
import { LinkButton } from '../../ui/button.tsx';
import { explainRowError } from './row-error.ts';

/** The invalid rows and their errors, if there are any. */
export function InvalidRows({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: check } = fileImport.check;
  if (!check || check.invalid === 0) return null;
  return (
    <div class="invalid-rows">
      <details>
        <summary>{t.showInvalid}</summary>
        {check.invalid > ERRORS_SHOWN_MAX && (
          <p class="quiet">{formatMessage(t.invalidShown, { count: ERRORS_SHOWN_MAX })}</p>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
        <ul tabIndex={0} aria-label={t.reportName}>
          {check.errors.map(({ line, element, error }) => (
            <li key={element ?? line}>
              <span class="quiet">
                {formatMessage(t.atLine, { line })}
                {element !== undefined && `, ${formatMessage(t.atElement, { element })}`}
              </span>{' '}
              {explainRowError(error)}
            </li>
          ))}
        </ul>
      </details>
      <ReportButton fileImport={fileImport} />
    </div>
  );
}

/** Saves a report with the invalid rows, which can be corrected and imported. */
function ReportButton({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const isBusy = useSignal(false);
  const hasFailed = useSignal(false);

  async function save(): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    const { file, sample, mapping } = fileImport;
    const name = `${file.file.name.replace(/\.[^.]*$/, '')} – ${t.reportName}.csv`;
    const reportTexts = { line: t.line, reason: t.reason, row: t.row, explain: explainRowError };
    try {
      await download(name, 'text/csv', reportOf(file, sample.columns, mapping.value, reportTexts));
    } catch (error) {
      if (!(error instanceof UnreadableFileError)) throw error;
      hasFailed.value = true;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <>
      <LinkButton text={t.saveReport} aria-disabled={isBusy.value} onClick={() => void save()} />
      {hasFailed.value && (
        <p class="error" role="alert">
          {t.problems.unreadable}
        </p>
      )}
    </>
  );
}
