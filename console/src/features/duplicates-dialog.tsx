import { useSignal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import { DuplicateSearch } from '../state/duplicate-search.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, focusNext, StepHeading } from '../ui/dialog.tsx';
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
  const copies = search.exactCopies.value;
  const failure = useSignal('');
  const status = useRef<HTMLParagraphElement>(null);
  // The button that had the focus was that of the last group.
  useEffect(() => focusNext(status.current), [group]);

  async function remove(books: readonly Book[]): Promise<void> {
    if (app.operations.progress.value) return;
    failure.value = '';
    failure.value = explainProblem(await search.delete(books));
  }

  return (
    <Dialog label={t.duplicates} class="wide" onDismiss={() => app.dialogs.close()}>
      <StepHeading text={t.duplicates} note={t.duplicatesHint} />
      <p ref={status} role="status">
        {isReading
          ? t.searchingDuplicates
          : error === undefined && formatMessage(t.duplicateGroups, { count: search.groups.value.length })}
      </p>
      <p class="error" role="alert">
        {error === undefined ? failure.value : formatMessage(t.duplicatesFailed, { reason: explain(error) })}
      </p>
      {copies.length > 0 && (
        <div class="buttons">
          <Button
            text={formatMessage(t.keepOldest, { count: copies.length })}
            onClick={() => void remove(copies)}
          />
        </div>
      )}
      {group && <Group key={group} search={search} group={group} onDelete={remove} />}
      <div class="buttons">
        {error !== undefined && (
          <Button text={t.tryAgain} variant="primary" onClick={() => void search.start()} />
        )}
        <Button text={t.close} onClick={() => app.dialogs.close()} />
      </div>
    </Dialog>
  );
}

function Group({
  search,
  group,
  onDelete,
}: {
  readonly search: DuplicateSearch;
  readonly group: readonly Book[];
  readonly onDelete: (books: readonly Book[]) => Promise<void>;
}) {
  const t = allTexts.value;
  const list = useRef<HTMLUListElement>(null);
  // The button that had the focus was that of the former group.
  useEffect(() => focusNext(list.current), []);

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
              onClick={() => void onDelete(group.filter((other) => other !== book))}
            />
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button text={t.skip} variant="ghost first" onClick={() => search.skip(group)} />
        <Button text={t.keepAll} onClick={() => search.keepAll(group)} />
      </div>
    </div>
  );
}
