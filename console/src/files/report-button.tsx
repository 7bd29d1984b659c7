import { useSignal } from '@preact/signals';
import { UnreadableFileError } from './file-bytes.ts';
import type { FileImport } from './file-import.ts';
import { reportOf } from './report.ts';
import { download } from './save.ts';
import { explainFault, texts } from './texts.ts';

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
