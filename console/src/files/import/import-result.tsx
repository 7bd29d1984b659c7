import type { Book } from '../../../../src/client/index.ts';
import { ShownText } from '../../catalogue/shown-text.tsx';
import { explain } from '../../language/explain.ts';
import { texts } from '../../language/file-texts.ts';
import { formatNumber, texts as pageTexts } from '../../language/language.ts';
import { showNewest } from '../../page/address.ts';
import { DialogHeading } from '../dialog-heading.tsx';
import { closeFiles } from '../opened-dialog.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import { BadRows } from './bad-rows.tsx';
import { leaveFile } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';

/** What an import has come to, and how it can go on where it is not complete. */
export function ImportEnding({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: check } = of.check;
  const { value: end } = of.end;
  const stored = of.stored.value;
  const { value: skipped } = of.skipped;
  const { value: kept } = of.kept;
  const isDone = end !== undefined && 'kind' in end && end.kind === 'done';
  const canGoOn = !isDone && !kept && !(end instanceof UnreadableFileError);
  return (
    <>
      <DialogHeading text={t.importBooks} note={of.file.file.name} />
      <div class="verdict" role="status">
        {kept ? (
          <UndoResult of={of} kept={kept} />
        ) : (
          <>
            <p>
              <strong>
                {isDone
                  ? t.done(stored, formatNumber(stored))
                  : t.stopped(formatNumber(stored), formatNumber(of.total.value))}
              </strong>
            </p>
            <EndingReason of={of} />
            {skipped > 0 && <p>{t.skipped(skipped, formatNumber(skipped))}</p>}
            {isDone && check && check.bad > 0 && <p>{t.leftOut(check.bad, formatNumber(check.bad))}</p>}
          </>
        )}
      </div>
      {check && check.bad > 0 && !kept && <BadRows of={of} check={check} />}
      <div class="buttons">
        <button type="button" class="link first" onClick={leaveFile}>
          {t.chooseAnother}
        </button>
        {of.left.value > 0 && (
          <button type="button" class="link danger" onClick={() => void of.undo()}>
            {kept ? t.undoFurther : t.undo}
          </button>
        )}
        {isDone && !kept && (
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

/** What an undo has come to: the books that stay are named. */
function UndoResult({ of, kept }: { of: FileImport; kept: readonly Book[] }) {
  const t = texts.value;
  const { noTitle } = pageTexts.value;
  const { value: fault } = of.fault;
  const gone = of.created.value - of.left.value - kept.length;
  return (
    <>
      <p>
        <strong>{t.undone(gone, formatNumber(gone))}</strong>
      </p>
      {of.left.value > 0 && (
        <p class={fault ? 'fault' : ''}>
          {t.undoLeft(of.left.value, formatNumber(of.left.value))} {fault && explain(fault)}
        </p>
      )}
      {kept.length > 0 && (
        <div class="bad-rows">
          <p>{t.kept(kept.length, formatNumber(kept.length))}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard, too */}
          <ul tabIndex={0}>
            {kept.map((book) => (
              <li key={book.id}>
                <span class="quiet">{pageTexts.value.number(formatNumber(book.id))}</span>{' '}
                <ShownText text={book.title} absent={noTitle} />
              </li>
            ))}
          </ul>
        </div>
      )}
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
