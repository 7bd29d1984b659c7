import { displayText } from 'bookkeeping-formats/book-row.ts';
import type { Field } from 'bookkeeping-formats/row.ts';
import { changedFields } from 'bookkeeping-formats/updated-book.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts, formatYear } from '../../language/texts.ts';
import { type FileUpdate, positionOf, type RowChange } from '../../state/files/file-update.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { explainFailure, quote } from '../reports.tsx';

/** The number of changes that are listed. */
const CHANGES_SHOWN_MAX = 1_000;

/** What a file changes, the old values before the new ones. */
export function ChangedRows({ update }: { update: FileUpdate }) {
  const t = allTexts.value;
  const { changes } = update.plan;
  if (changes.length === 0) return null;
  return (
    <div class="invalid-rows">
      <details>
        <summary>{t.showChanges}</summary>
        {changes.length > CHANGES_SHOWN_MAX && (
          <p class="quiet">{formatMessage(t.invalidShown, { count: CHANGES_SHOWN_MAX })}</p>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
        <ul tabIndex={0} aria-label={t.changeList}>
          {changes.slice(0, CHANGES_SHOWN_MAX).map((change) => (
            <ChangedRow key={positionOf(change.row)} change={change} />
          ))}
        </ul>
      </details>
    </div>
  );
}

function ChangedRow({ change: { row, before, after } }: { change: RowChange }) {
  const t = allTexts.value;
  return (
    <li>
      <span class="quiet">{formatMessage(t.atLine, { line: row.line })}</span>{' '}
      {before ? `${quote(before)} ` : formatMessage(t.operationKinds.added, { books: quote(after) })}
      {before &&
        changedFields(before, after).map((field) => (
          <span key={field}>
            {t.columns[field]} <del>{displayed(before, field)}</del> → <ins>
              {displayed(after, field)}
            </ins>{' '}
          </span>
        ))}
    </li>
  );
}

/** The changes that were not made, by their lines. */
export function FailedRows({ update }: { update: FileUpdate }) {
  const t = allTexts.value;
  const { value: failed } = update.failed;
  if (failed.length === 0) return null;
  return (
    <div class="invalid-rows">
      <p class="error">{formatMessage(t.failedBooks, { count: failed.length })}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
      <ul tabIndex={0} aria-label={t.reportName}>
        {failed.slice(0, CHANGES_SHOWN_MAX).map(({ row, failure }, index) => (
          <li key={index}>
            <span class="quiet">{row && formatMessage(t.atLine, { line: row.line })}</span>{' '}
            {quote(failure.book)} {explainFailure(failure)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** In characters. */
const VALUE_LENGTH_MAX = 200;

function displayed(book: RowChange['after'], field: Field): string {
  return field === 'year' ? formatYear(book.year) : displayText(visibleText(book[field]), VALUE_LENGTH_MAX);
}
