import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { BookChange } from '../../../../src/client/index.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { ChangeList } from '../../state/change-list.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, StepHeading } from '../../ui/dialog.tsx';
import { BookText, YearText } from '../book-text.tsx';
import { explainProblem } from '../reports.tsx';
import { useApp } from '../use-app.ts';
import { ChangeListEnd } from './change-list-end.tsx';
import { ChangeTime } from './change-time.tsx';

/** The deleted books, the last deletion first; one or several of them can be restored. */
export function DeletedBooksDialog() {
  const { client, operations, dialogs, session } = useApp();
  const isReadOnly = session.isReadOnly.value;
  const close = () => dialogs.close();
  const t = allTexts.value;
  const chosen = useSignal<ReadonlySet<number>>(new Set());
  const refusal = useSignal('');
  const isRestoring = useSignal(false);
  const list = useMemo(() => new ChangeList((abort) => client.deletedBooks({ signal: abort })), []);
  useEffect(() => {
    void list.load();
    return () => list.close();
  }, [list]);

  async function restore(): Promise<void> {
    if (isRestoring.value || chosenBooks.length === 0) return;
    isRestoring.value = true;
    const changes = chosenBooks.map((after) => ({ before: undefined, after }));
    const report = await operations.run('restored', changes);
    isRestoring.value = false;
    if (report.done.length === chosenBooks.length) return close();
    refusal.value = explainProblem(report);
    chosen.value = new Set();
    await list.load();
  }

  function choose(id: number, isChosen: boolean): void {
    const ids = new Set(chosen.value);
    if (isChosen) ids.add(id);
    else ids.delete(id);
    chosen.value = ids;
  }

  const { value: changes } = list.changes;
  const chosenBooks = changes.map(({ book }) => book).filter(({ id }) => chosen.value.has(id));
  return (
    <Dialog label={t.recentlyDeleted} onDismiss={close} class="wide">
      <StepHeading text={t.recentlyDeleted} />
      <ul class="entries">
        {changes.map((change) => (
          <DeletedBook
            key={change.cursor}
            change={change}
            isChosen={chosen.value.has(change.book.id)}
            onChoose={isReadOnly ? undefined : (isChosen) => choose(change.book.id, isChosen)}
          />
        ))}
      </ul>
      <ChangeListEnd list={list} none={t.noDeletedBooks} />
      <p class="error" role="alert">
        {refusal.value}
      </p>
      <div class="buttons">
        <Button text={t.close} onClick={close} />
        {!isReadOnly && (
          <Button
            text={formatMessage(t.restoreChosen, { count: chosenBooks.length })}
            variant="primary"
            aria-disabled={chosenBooks.length === 0 || isRestoring.value}
            onClick={() => void restore()}
          />
        )}
      </div>
    </Dialog>
  );
}

interface DeletedBookProps {
  readonly change: BookChange;
  readonly isChosen: boolean;
  /** Undefined when it cannot be restored. */
  readonly onChoose: ((isChosen: boolean) => void) | undefined;
}

function DeletedBook({ change: { at, book }, isChosen, onChoose }: DeletedBookProps) {
  const t = allTexts.value;
  const text = (
    <span>
      <span class="lead">
        <BookText text={book.title} absent={t.noTitle} />
      </span>
      <span class="quiet small">
        <BookText text={book.author} absent={t.noAuthor} /> <YearText year={book.year} /> ·{' '}
        {t.changeTypes.deleted} <ChangeTime at={at} />
      </span>
    </span>
  );
  if (!onChoose) return <li class="entry card checkbox">{text}</li>;
  return (
    <li class="entry card">
      <label class="checkbox">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
        {text}
      </label>
    </li>
  );
}
