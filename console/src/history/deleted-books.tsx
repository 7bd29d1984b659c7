import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Book, BookChange } from '../../../src/client/index.ts';
import { BookText, YearText } from '../book/book-text.tsx';
import { nameOf, sendPendingDeletions } from '../book/pending-deletions.ts';
import { formatMessage } from '../language/format.ts';
import { allTexts } from '../language/texts.ts';
import { Button } from '../page/button.tsx';
import { StepHeading } from '../page/dialog.tsx';
import { client } from '../session/session.ts';
import { ChangeList } from './change-list.ts';
import { ChangeListEnd } from './change-list-end.tsx';
import { ChangeTime } from './change-time.tsx';
import { restore } from './restore.ts';

/** The deleted books, the last deletion first; one or several of them can be restored. */
export function DeletedBooks({ onClose }: { onClose: () => void }) {
  const t = allTexts.value;
  const chosen = useSignal<ReadonlySet<number>>(new Set());
  const refusal = useSignal<string | undefined>(undefined);
  const isRestoring = useSignal(false);
  const list = useMemo(
    () =>
      new ChangeList(async function* read(abort) {
        await sendPendingDeletions();
        yield* client.deletedBooks({ signal: abort });
      }),
    [],
  );
  useEffect(() => {
    void list.load();
    return () => list.close();
  }, [list]);

  async function restoreBooks(books: readonly Book[]): Promise<void> {
    if (isRestoring.value || books.length === 0) return;
    isRestoring.value = true;
    refusal.value = await restore(books);
    isRestoring.value = false;
    if (refusal.value === undefined) return onClose();
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
    <>
      <StepHeading text={t.recentlyDeleted} />
      <ul class="deleted-books">
        {changes.map((change) => (
          <DeletedBook
            key={change.cursor}
            change={change}
            isChosen={chosen.value.has(change.book.id)}
            onChoose={(isChosen) => choose(change.book.id, isChosen)}
            onRestore={() => void restoreBooks([change.book])}
          />
        ))}
      </ul>
      <ChangeListEnd list={list} none={t.noDeletedBooks} />
      <p class="error" role="alert">
        {refusal.value}
      </p>
      <div class="buttons">
        <Button text={t.close} onClick={onClose} />
        <Button
          text={formatMessage(t.restoreChosen, { count: chosenBooks.length })}
          variant="primary"
          aria-disabled={chosenBooks.length === 0 || isRestoring.value}
          onClick={() => void restoreBooks(chosenBooks)}
        />
      </div>
    </>
  );
}

interface DeletedBookProps {
  readonly change: BookChange;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  readonly onRestore: () => void;
}

function DeletedBook({ change: { at, book }, isChosen, onChoose, onRestore }: DeletedBookProps) {
  const t = allTexts.value;
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
        <span class="title">
          <BookText text={book.title} absent={t.noTitle} />
        </span>
        <span class="quiet">
          <BookText text={book.author} absent={t.noAuthor} />, <YearText year={book.year} /> ·{' '}
          {t.changeTypes.deleted} <ChangeTime at={at} />
        </span>
      </label>
      <Button
        text={t.restore}
        aria-label={formatMessage(t.restoreBook, { title: nameOf(book) })}
        onClick={onRestore}
      />
    </li>
  );
}
