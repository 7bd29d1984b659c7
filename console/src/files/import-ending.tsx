import { explain } from '../language/explain.ts';
import { formatNumber, texts as pageTexts } from '../language/language.ts';
import { showNewest } from '../page/address.ts';
import { BadRows } from './bad-rows.tsx';
import { leaveFile } from './choosing.ts';
import { DialogHeading } from './dialog-heading.tsx';
import { UnreadableFileError } from './file-bytes.ts';
import type { FileImport } from './file-import.ts';
import { closeFiles } from './opened.ts';
import { texts } from './texts.ts';

/** What an import has come to, and how it can go on where it is not complete. */
export function ImportEnding({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: check } = of.check;
  const { value: end } = of.end;
  const stored = of.stored.value;
  const isDone = end !== undefined && 'kind' in end && end.kind === 'done';
  const canGoOn = !isDone && !(end instanceof UnreadableFileError);
  return (
    <>
      <DialogHeading text={t.importBooks} note={of.file.file.name} />
      <div class="verdict" role="status">
        <p>
          <strong>
            {isDone
              ? t.done(stored, formatNumber(stored))
              : t.stopped(formatNumber(stored), formatNumber(check?.good ?? 0))}
          </strong>
        </p>
        <EndingReason of={of} />
        {isDone && check && check.bad > 0 && <p>{t.leftOut(check.bad, formatNumber(check.bad))}</p>}
      </div>
      {check && check.bad > 0 && <BadRows of={of} check={check} />}
      <div class="buttons">
        <button type="button" class="link first" onClick={leaveFile}>
          {t.chooseAnother}
        </button>
        {isDone && (
          <button type="button" class="button" onClick={seeNewest}>
            {pageTexts.value.showNewest}
          </button>
        )}
        <button type="button" class={canGoOn ? 'button' : 'button primary'} onClick={closeFiles}>
          {t.close}
        </button>
        {canGoOn && (
          <button type="button" class="button primary" onClick={() => void of.start()}>
            {t.goOn}
          </button>
        )}
      </div>
    </>
  );
}

function seeNewest(): void {
  closeFiles();
  showNewest();
}

/** Why an import has ended before its time. */
function EndingReason({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: end } = of.end;
  if (!end) return null;
  if (end instanceof UnreadableFileError) return <p class="fault">{t.failed}</p>;
  if (end.kind === 'refused') {
    const { firstLine, lastLine } = end.batch;
    return (
      <p class="fault">{t.refused(formatNumber(firstLine), formatNumber(lastLine), explain(end.error))}</p>
    );
  }
  if (!of.doubt) return null;
  const { firstLine, lastLine } = of.doubt.batch;
  return <p class="note">{t.doubtful(formatNumber(firstLine), formatNumber(lastLine))}</p>;
}
