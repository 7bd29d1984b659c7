import { FIELDS } from '../../../src/formats/row.ts';
import { allTexts, formatYear } from '../language/texts.ts';
import type { Operation } from '../state/operations.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, StepHeading } from '../ui/dialog.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { ChangeTime } from './history/change-time.tsx';
import { nameOfOperation } from './reports.tsx';
import { useApp } from './use-app.ts';

/** What the user has done since the sign-in, the last operation first; each can be undone and done again. */
export function OperationsDialog() {
  const { dialogs, operations } = useApp();
  const t = allTexts.value;
  const all = operations.all.value.toReversed();
  return (
    <Dialog label={t.operations} class="wide" onDismiss={() => dialogs.close()}>
      <StepHeading text={t.operations} note={all.length === 0 ? t.noOperations : t.operationsHint} />
      <ul class="entries">
        {all.map((operation) => (
          <li key={operation} class="entry card">
            <div>
              <p class={operation.isUndone ? 'quiet' : ''}>{nameOfOperation(operation)}</p>
              <p class="quiet small">
                {detailsOf(operation)} <ChangeTime at={new Date(operation.at).toISOString()} />
              </p>
            </div>
            <Button
              text={operation.isUndone ? t.redo : t.undo}
              aria-label={`${operation.isUndone ? t.redo : t.undo}: ${nameOfOperation(operation)}`}
              aria-disabled={operations.progress.value !== undefined}
              onClick={() => void operations.reverse(operation)}
            />
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button text={t.close} variant="primary" onClick={() => dialogs.close()} />
      </div>
    </Dialog>
  );
}

/** The changed fields of a single book: `Year: 1815 → 1816 ·`. */
function detailsOf({ changes }: Operation): string {
  const { columns } = allTexts.value;
  const [{ before, after } = { before: undefined, after: undefined }] = changes;
  if (changes.length !== 1 || !before || !after) return '';
  return FIELDS.filter((field) => before[field] !== after[field])
    .map((field) => {
      const [was, is] = [before, after].map((book) =>
        field === 'year' ? formatYear(book.year) : visibleText(book[field]),
      );
      return `${columns[field]}: ${was || '–'} → ${is || '–'} ·`;
    })
    .join(' ');
}
