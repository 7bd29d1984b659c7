import { formatMessage } from '../../language/format.ts';
import { allTexts, explain } from '../../language/texts.ts';
import { UnreadableFileError } from '../../state/files/file-bytes.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import type { FileUpdate } from '../../state/files/file-update.ts';
import { Button } from '../../ui/button.tsx';
import { useApp } from '../use-app.ts';
import { FailedRows } from './changed-rows.tsx';
import type { ImportStepProps } from './import-plan.tsx';
import { InvalidRows } from './invalid-rows.tsx';

/** The result of an import, with a button to continue an incomplete one. */
export function ImportResult({ choice, fileImport }: ImportStepProps) {
  const { dialogs, operations, address } = useApp();
  const t = allTexts.value;
  const { value: end } = fileImport.end;
  const { value: update } = fileImport.update;
  const operation = (update ?? fileImport).operation.value;
  const isDone = update
    ? update.left.value.length === 0
    : end !== undefined && 'kind' in end && end.kind === 'done';
  const canContinue = !isDone && !(end instanceof UnreadableFileError);
  return (
    <>
      <div class="step" role="status">
        {update ? <UpdatedBooks update={update} /> : <StoredBooks fileImport={fileImport} isDone={isDone} />}
      </div>
      {update && <FailedRows update={update} />}
      <InvalidRows fileImport={fileImport} />
      <div class="buttons">
        <Button text={t.chooseAnother} variant="ghost first" onClick={() => choice.close()} />
        {operation && operation.changes.length > 0 && (
          <Button
            text={t.undoImport}
            variant="danger"
            onClick={() => {
              dialogs.close();
              void operations.reverse(operation);
            }}
          />
        )}
        {isDone && !update && (
          <Button
            text={t.showNewest}
            onClick={() => {
              dialogs.close();
              address.showNewest();
            }}
          />
        )}
        <Button text={t.close} variant={canContinue ? '' : 'primary'} onClick={() => dialogs.close()} />
        {canContinue && (
          <Button text={t.continue} variant="primary" onClick={() => void fileImport.start()} />
        )}
      </div>
    </>
  );
}

function UpdatedBooks({ update }: { update: FileUpdate }) {
  const t = allTexts.value;
  const [updated, added] = [update.updated.value, update.added.value];
  const { value: error } = update.error;
  const isDone = update.left.value.length === 0;
  const total = update.plan.changes.length;
  return (
    <>
      <p>
        <strong>
          {isDone
            ? formatMessage(t.updateDone, { count: updated, added })
            : formatMessage(t.updateStopped, { done: updated + added, total })}
        </strong>
      </p>
      {error !== undefined && <p class="error">{explain(error)}</p>}
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
  const { firstLine, lastLine } = fileImport.unconfirmed;
  return <p class="note">{formatMessage(t.unconfirmed, { first: firstLine, last: lastLine })}</p>;
}
