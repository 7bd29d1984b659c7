import type { Book } from '../../../../src/client/index.ts';
import { BookText } from '../../book/book-text.tsx';
import { fileTexts } from '../../language/file-texts.ts';
import { explain } from '../../language/texts.ts';
import { showNewest } from '../../page/address.ts';
import { Button, LinkButton } from '../../page/button.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import { BadRows } from './bad-rows.tsx';
import { closeFile } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';

/** The result of an import or its undo, and how an incomplete one can be continued. */
export function ImportResult({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: end } = of.end;
  const { value: kept } = of.kept;
  const isDone = end !== undefined && 'kind' in end && end.kind === 'done';
  const canContinue = !isDone && !kept && !(end instanceof UnreadableFileError);
  return (
    <>
      <div class="summary" role="status">
        {kept ? <UndoResult of={of} kept={kept} /> : <StoredBooks of={of} isDone={isDone} />}
      </div>
      {!kept && <BadRows of={of} />}
      <div class="buttons">
        <LinkButton text={t.chooseAnother} is="first" onClick={closeFile} />
        {of.left.value > 0 && (
          <LinkButton
            text={kept ? t.continueUndo : t.undoImport}
            is="danger"
            onClick={() => void of.undo()}
          />
        )}
        {isDone && !kept && (
          <Button
            text={t.showNewest}
            onClick={() => {
              closeFileDialog();
              showNewest();
            }}
          />
        )}
        <Button text={t.close} is={canContinue ? '' : 'primary'} onClick={closeFileDialog} />
        {canContinue && <Button text={t.continue} is="primary" onClick={() => void of.start()} />}
      </div>
    </>
  );
}

function StoredBooks({ of, isDone }: { of: FileImport; isDone: boolean }) {
  const t = fileTexts.value;
  const { value: stored } = of.stored;
  const { value: skipped } = of.skipped;
  const bad = of.check.value?.bad ?? 0;
  return (
    <>
      <p>
        <strong>{isDone ? t.done(stored) : t.stopped(stored, of.total.value)}</strong>
      </p>
      <EndReason of={of} />
      {skipped > 0 && <p>{t.skipped(skipped)}</p>}
      {isDone && bad > 0 && <p>{t.leftOut(bad)}</p>}
    </>
  );
}

/** Why an import is incomplete. */
function EndReason({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: end } = of.end;
  if (end instanceof UnreadableFileError) return <p class="fault">{t.failed}</p>;
  if (end?.kind === 'refused') {
    const { firstLine, lastLine } = end.batch;
    return <p class="fault">{t.refused(firstLine, lastLine, explain(end.error))}</p>;
  }
  if (!of.unconfirmed) return null;
  const { firstLine, lastLine } = of.unconfirmed.batch;
  return <p class="note">{t.unconfirmed(firstLine, lastLine)}</p>;
}

function UndoResult({ of, kept }: { of: FileImport; kept: readonly Book[] }) {
  const t = fileTexts.value;
  const { value: fault } = of.fault;
  const { value: left } = of.left;
  return (
    <>
      <p>
        <strong>{t.undone(of.created.value - left - kept.length)}</strong>
      </p>
      {left > 0 && (
        <p class={fault ? 'fault' : ''}>
          {t.undoLeft(left)} {fault && explain(fault)}
        </p>
      )}
      {kept.length > 0 && (
        <div class="bad-rows">
          <p>{t.kept(kept.length)}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard, too */}
          <ul tabIndex={0}>
            {kept.map((book) => (
              <li key={book.id}>
                <span class="quiet">{t.number(book.id)}</span>{' '}
                <BookText text={book.title} absent={t.noTitle} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
