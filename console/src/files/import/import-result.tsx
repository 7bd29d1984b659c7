import type { Book } from '../../../../src/client/index.ts';
import { BookText } from '../../book/book-text.tsx';
import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import { showNewest } from '../../page/address.ts';
import { Button, LinkButton } from '../../page/button.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { UnreadableFileError } from '../read/file-bytes.ts';
import { closeFile } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';
import { InvalidRows } from './invalid-rows.tsx';

/** The result of an import or of its undo, with a button to continue an incomplete one. */
export function ImportResult({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: end } = fileImport.end;
  const { value: kept } = fileImport.kept;
  const isDone = end !== undefined && 'kind' in end && end.kind === 'done';
  const canContinue = !isDone && !kept && !(end instanceof UnreadableFileError);
  return (
    <>
      <div class="summary" role="status">
        {kept ? (
          <UndoResult fileImport={fileImport} kept={kept} />
        ) : (
          <StoredBooks fileImport={fileImport} isDone={isDone} />
        )}
      </div>
      {!kept && <InvalidRows fileImport={fileImport} />}
      <div class="buttons">
        <LinkButton text={t.chooseAnother} variant="first" onClick={closeFile} />
        {fileImport.left.value > 0 && (
          <LinkButton
            text={kept ? t.continueUndo : t.undoImport}
            variant="danger"
            onClick={() => void fileImport.undo()}
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
        <Button text={t.close} variant={canContinue ? '' : 'primary'} onClick={closeFileDialog} />
        {canContinue && (
          <Button text={t.continue} variant="primary" onClick={() => void fileImport.start()} />
        )}
      </div>
    </>
  );
}

function StoredBooks({ fileImport, isDone }: { fileImport: FileImport; isDone: boolean }) {
  const t = allTexts.value;
  const { value: stored } = fileImport.stored;
  const { value: skipped } = fileImport.skipped;
  const invalid = fileImport.check.value?.invalid ?? 0;
  return (
    <>
      <p>
        <strong>
          {isDone
            ? formatMessage(t.done, { count: stored })
            : formatMessage(t.stopped, { stored, total: fileImport.total.value })}
        </strong>
      </p>
      <EndReason fileImport={fileImport} />
      {skipped > 0 && <p>{formatMessage(t.skipped, { count: skipped })}</p>}
      {isDone && invalid > 0 && <p>{formatMessage(t.leftOut, { count: invalid })}</p>}
    </>
  );
}

/** Why an import is incomplete. */
function EndReason({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: end } = fileImport.end;
  if (end instanceof UnreadableFileError) return <p class="error">{t.failed}</p>;
  if (end?.kind === 'rejected') {
    const { firstLine, lastLine } = end.batch;
    return (
      <p class="error">
        {formatMessage(t.rejected, { first: firstLine, last: lastLine, reason: explain(end.error) })}
      </p>
    );
  }
  if (!fileImport.unconfirmed) return null;
  const { firstLine, lastLine } = fileImport.unconfirmed.batch;
  return <p class="note">{formatMessage(t.unconfirmed, { first: firstLine, last: lastLine })}</p>;
}

function UndoResult({ fileImport, kept }: { fileImport: FileImport; kept: readonly Book[] }) {
  const t = allTexts.value;
  const { value: error } = fileImport.error;
  const { value: left } = fileImport.left;
  return (
    <>
      <p>
        <strong>{formatMessage(t.undone, { count: fileImport.created.value - left - kept.length })}</strong>
      </p>
      {left > 0 && (
        <p class={error ? 'error' : ''}>
          {formatMessage(t.undoLeft, { count: left })} {error && explain(error)}
        </p>
      )}
      {kept.length > 0 && (
        <div class="invalid-rows">
          <p>{formatMessage(t.kept, { count: kept.length })}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
          <ul tabIndex={0}>
            {kept.map((book) => (
              <li key={book.id}>
                <span class="quiet">{formatMessage(t.number, { id: String(book.id) })}</span>{' '}
                <BookText text={book.title} absent={t.noTitle} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
