import { useSignal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { DuplicateSearch, GROUPS_MAX } from '../state/duplicate-search.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, StepHeading } from '../ui/dialog.tsx';
import { Progress } from '../ui/progress.tsx';
import { BookText, YearText } from './book-text.tsx';
import { explainProblem } from './reports.tsx';
import { useApp } from './use-app.ts';

/** Finds books that are probably the same, of which the user keeps one, group after group. */
export function DuplicatesDialog() {
  const app = useApp();
  const t = allTexts.value;
  const search = useMemo(() => new DuplicateSearch(app), []);
  useEffect(() => {
    void search.start();
    return () => search.stop();
  }, []);
  const [group] = search.groups.value;
  const isReading = search.isReading.value;
  const { value: error } = search.error;
  const { value: end } = search.end;
  return (
    <Dialog label={t.duplicates} class="wide" onDismiss={() => app.dialogs.close()}>
      <StepHeading text={t.duplicates} note={t.duplicatesHint} />
      {isReading && (
        <Progress
          label={t.searchingDuplicates}
          value={search.read.value}
          max={search.total.value}
          numbers={
            search.total.value === undefined
              ? undefined
              : formatMessage(t.progress, { done: search.read.value, total: search.total.value })
          }
          status={t.searchingDuplicates}
        />
      )}
      <p role="status">
        {(group || end === 'complete') &&
          formatMessage(t.duplicateGroups, { count: search.groups.value.length })}{' '}
        {end === 'full' && formatMessage(t.duplicateLimit, { max: GROUPS_MAX })}
      </p>
      <p class="error" role="alert">
        {error !== undefined && formatMessage(t.duplicatesFailed, { reason: explain(error) })}
      </p>
      {group && <Group key={group} search={search} group={group} />}
      <div class="buttons">
        {isReading && <Button text={t.stop} onClick={() => search.stop()} />}
        {(error !== undefined || (end === 'full' && !group)) && (
          <Button text={t.tryAgain} variant="primary" onClick={() => void search.start()} />
        )}
        <Button text={t.close} onClick={() => app.dialogs.close()} />
      </div>
    </Dialog>
  );
}

function Group({ search, group }: { readonly search: DuplicateSearch; readonly group: readonly Book[] }) {
  const { operations } = useApp();
  const t = allTexts.value;
  const error = useSignal('');
  const list = useRef<HTMLUListElement>(null);
  // The button that had the focus was that of the last group.
  useEffect(() => {
    if (document.activeElement === document.body) list.current?.querySelector('button')?.focus();
  }, []);

  async function keep(book: Book): Promise<void> {
    if (operations.progress.value) return;
    error.value = explainProblem(await search.keepOne(group, book));
  }

  return (
    <div>
      <ul ref={list} class="entries">
        {group.map((book) => (
          <li key={book.id} class="entry card">
            <div>
              <p class="lead">
                <BookText text={book.title} absent={t.noTitle} />
              </p>
              <p class="quiet small">
                {formatMessage(t.number, { id: String(book.id) })} ·{' '}
                <BookText text={book.author} absent={t.noAuthor} /> <YearText year={book.year} />
              </p>
            </div>
            <Button
              text={t.keepOne}
              aria-label={`${t.keepOne}: ${formatMessage(t.number, { id: String(book.id) })}`}
              onClick={() => void keep(book)}
            />
          </li>
        ))}
      </ul>
      <p class="error" role="alert">
        {error.value}
      </p>
      <div class="buttons">
        <Button text={t.skip} variant="ghost first" onClick={() => search.skip(group)} />
        <Button text={t.keepAll} onClick={() => search.keepAll(group)} />
      </div>
    </div>
  );
}
