import { useSignal } from '@preact/signals';
import { explainRowError, fileTexts } from '../../language/file-texts.ts';
import { LinkButton } from '../../page/button.tsx';
import { download } from '../export/save-file.ts';
import { FAULTS_SHOWN_MAX } from '../read/check-file.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import { reportOf } from '../read/report.ts';
import type { FileImport } from './file-import.ts';

/** The invalid rows and their faults, if there are any. */
export function BadRows({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: check } = of.check;
  if (!check || check.bad === 0) return null;
  return (
    <div class="bad-rows">
      <details>
        <summary>{t.showBad}</summary>
        {check.bad > FAULTS_SHOWN_MAX && <p class="quiet">{t.badShown(FAULTS_SHOWN_MAX)}</p>}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard, too */}
        <ul tabIndex={0}>
          {check.faults.map(({ line, element, error }) => (
            <li key={element ?? line}>
              <span class="quiet">
                {t.atLine(line)}
                {element !== undefined && `, ${t.atElement(element)}`}
              </span>{' '}
              {explainRowError(error)}
            </li>
          ))}
        </ul>
      </details>
      <ReportButton of={of} />
    </div>
  );
}

/** Saves the invalid rows, which can be corrected and imported. */
function ReportButton({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const isBusy = useSignal(false);
  const hasFailed = useSignal(false);

  async function save(): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    const { file, sample, mapping } = of;
    const target = download(`${file.file.name.replace(/\.[^.]*$/, '')} – ${t.reportName}.csv`, 'text/csv');
    try {
      const reportTexts = { line: t.line, reason: t.reason, row: t.row, explain: explainRowError };
      for await (const text of reportOf(file, sample.columns, mapping.value, reportTexts))
        await target.write(text);
      await target.close();
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
        <p class="fault" role="alert">
          {t.problems.gone}
        </p>
      )}
    </>
  );
}
