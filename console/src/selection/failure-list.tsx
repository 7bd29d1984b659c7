import { BookText } from '../book/book-text.tsx';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { type Failure, failures, isSelected } from './selection.ts';

/** The failures that are listed; all are marked in the table. */
const LISTED_MAX = 100;

/** The books that could not be changed or deleted, with the reasons. */
export function FailureList() {
  const t = allTexts.value;
  const listed = [...failures.value.values()].filter(({ book }) => isSelected(book));
  if (listed.length === 0) return null;
  return (
    <div class="invalid-rows">
      <p class="error" role="alert">
        {formatMessage(t.failedBooks, { count: listed.length })}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
      <ul tabIndex={0}>
        {listed.slice(0, LISTED_MAX).map((failure) => (
          <li key={failure.book.id}>
            <BookText text={failure.book.title} absent={t.noTitle} /> {explainFailure(failure)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function explainFailure({ reason }: Failure): string {
  const { failures: reasons } = allTexts.value;
  return typeof reason === 'string' ? reasons[reason] : explain(reason);
}
