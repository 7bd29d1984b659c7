import { formatMessage } from '../language/format.ts';
import { formatNumber } from '../language/language.ts';
import { allTexts } from '../language/texts.ts';
import type { App } from '../state/app.ts';
import type { CellRange } from '../state/cursor.ts';
import { OPERATION_BOOKS_MAX, type Progress } from '../state/operations.ts';
import type { Selection } from '../state/selection.ts';
import { Button } from '../ui/button.tsx';
import { focusBooks } from '../ui/dialog.tsx';
import { BookText } from './book-text.tsx';
import { explainFailure } from './reports.tsx';
import { emptyCells, fillDown } from './table/cell-range.ts';
import { useApp } from './use-app.ts';

/** The failures that are listed; all are marked in the table. */
const LISTED_MAX = 100;

/** Deletes the selected books, or says why not. */
export function deleteSelected({ selection, operations, toasts }: App): void {
  const problem = problemOf(selection);
  if (problem === undefined) void operations.runSelected('deleted', () => undefined);
  else toasts.show({ text: () => problem, isError: true });
}

/** Why no command can change the selected books: they are not counted yet, or too many. */
function problemOf({ count, isCounted }: Selection): string | undefined {
  const t = allTexts.value;
  if (!isCounted.value) return t.countingSelected;
  return count.value > OPERATION_BOOKS_MAX
    ? formatMessage(t.tooManySelected, { max: OPERATION_BOOKS_MAX })
    : undefined;
}

/** The number of selected cells or, if there is no range of them, of selected books, for screen readers. */
export function SelectedCount() {
  const { cursor, selection } = useApp();
  const count = selection.count.value;
  if (cursor.range.value) return <CellCount range={cursor.range.value} />;
  if (!selection.isCounted.value) return allTexts.value.countingSelected;
  return count > 0 ? formatMessage(allTexts.value.selected, { count }) : null;
}

function CellCount({ range: { first, last, fields } }: { readonly range: CellRange }) {
  return formatMessage(allTexts.value.cells, { count: (last - first + 1) * fields.length });
}

/** The number of selected books or cells, and what can be done with them; while an operation runs, its progress. */
export function SelectionBar() {
  const { selection, cursor, operations, list, dialogs, session } = useApp();
  const { value: range } = cursor.range;
  const t = allTexts.value;
  const count = selection.count.value;
  if (operations.progress.value) return <RunningOperation {...operations.progress.value} />;
  // The commands of the keys, too.
  if (range && !session.isReadOnly.value) return <RangeBar range={range} />;
  if (count === 0) return null;
  const problem = problemOf(selection);
  const isReadOnly = session.isReadOnly.value;
  return (
    <section class="selection" aria-label={t.selection}>
      {selection.isCounted.value && <strong>{formatMessage(t.selected, { count })}</strong>}
      <Button
        text="✕"
        aria-label={t.clearSelection}
        variant="ghost"
        onClick={runAndFocus(() => selection.clear())}
      />
      {list.total.value !== undefined && count < list.total.value && (
        <Button
          variant="ghost"
          text={formatMessage(t.selectAllBooks, { count: list.total.value })}
          onClick={() => selection.all()}
        />
      )}
      {isReadOnly ? null : problem !== undefined ? (
        <span class="quiet">{problem}</span>
      ) : (
        <>
          <Button
            variant="ghost"
            text={t.setAuthor}
            onClick={() => dialogs.show({ kind: 'field', field: 'author' })}
          />
          <Button
            variant="ghost"
            text={t.setYear}
            onClick={() => dialogs.show({ kind: 'field', field: 'year' })}
          />
        </>
      )}
      <Button
        variant="ghost"
        text={t.export}
        onClick={() => dialogs.show({ kind: 'export', isSelection: true })}
      />
      {problem === undefined && !isReadOnly && (
        <Button
          text={t.delete}
          variant="ghost danger"
          onClick={runAndFocus(() => operations.runSelected('deleted', () => undefined))}
        />
      )}
      <FailureList />
    </section>
  );
}

/** The number of cells of the range, what can be done with them, and what could not. */
function RangeBar({ range }: { readonly range: CellRange }) {
  const app = useApp();
  const t = allTexts.value;
  return (
    <section class="selection" aria-label={t.selection}>
      <strong>
        <CellCount range={range} />
      </strong>
      <Button
        text="✕"
        aria-label={t.clearSelection}
        variant="ghost"
        onClick={runAndFocus(() => app.cursor.endRange())}
      />
      <Button
        variant="ghost"
        text={t.fillDown}
        aria-keyshortcuts="Control+D"
        onClick={runAndFocus(() => fillDown(app))}
      />
      <Button variant="ghost" text={t.emptyCells} onClick={runAndFocus(() => emptyCells(app))} />
      <FailureList />
    </section>
  );
}

/** A handler that moves the focus to the books, as the button that had it disappears. */
function runAndFocus(command: () => unknown): () => void {
  return () => {
    void command();
    focusBooks({ preventScroll: true });
  };
}

/** The selected books that could not be changed or deleted, with the reasons. */
function FailureList() {
  const { selection } = useApp();
  const t = allTexts.value;
  const failures = [...selection.failures.value.values()].filter(({ book }) => selection.has(book));
  if (failures.length === 0) return null;
  return (
    <div class="invalid-rows">
      <p class="error" role="alert">
        {formatMessage(t.failedBooks, { count: failures.length })}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
      <ul tabIndex={0}>
        {failures.slice(0, LISTED_MAX).map((failure) => (
          <li key={failure.book.id}>
            <BookText text={failure.book.title} absent={t.noTitle} /> {explainFailure(failure)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function RunningOperation({ step, done, total: max }: Progress) {
  const { operations, connection } = useApp();
  const t = allTexts.value;
  const { value: obstacle } = connection.obstacle;
  return (
    <section class="selection" aria-label={t.selection}>
      <strong>{obstacle ? t.unsaved[obstacle] : t.steps[step]}</strong>
      <progress value={done} max={max} aria-label={t.steps[step]} />
      <span>{formatMessage(t.progress, { done: formatNumber(done), total: formatNumber(max) })}</span>
      <Button text={t.stop} variant="ghost" onClick={() => operations.stop()} />
    </section>
  );
}
