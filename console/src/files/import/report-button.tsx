import { useSignal } from '@preact/signals';
import { explainFault, texts } from '../../language/file-texts.ts';
import { download } from '../export/save-file.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import { reportOf } from '../read/report.ts';
import type { FileImport } from './file-import.ts';

/** Saves the rows that are left out, so that somebody can mend and import them. */
export function ReportButton({ of }: { of: FileImport }) {
  const t = texts.value;
  const isBusy = useSignal(false);
  const hasFailed = useSignal(false);

  async function save(): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    const { file, sample, mapping } = of;
    const name = file.file.name.replace(/\.[^.]*$/, '');
    const target = download(`${name} – ${t.reportName}.csv`, 'text/csv');
    try {
      const words = { line: t.line, reason: t.reason, row: t.row, explain: explainFault };
      for await (const text of reportOf(file, sample.columns, mapping.value, words)) await target.write(text);
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
      <button type="button" class="link" aria-disabled={isBusy.value} onClick={() => void save()}>
        {t.saveReport}
      </button>
      {hasFailed.value && (
        <p class="fault" role="alert">
          {t.problems.gone}
        </p>
      )}
    </>
  );
}
