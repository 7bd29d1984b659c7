import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Book, BookChange, BookFields, VersionedBook } from '../../../../src/client/index.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { ChangeList } from '../../state/change-list.ts';
import { formFieldsOf, isSame } from '../../state/fields.ts';
import { Button } from '../../ui/button.tsx';
import { StepHeading } from '../../ui/dialog.tsx';
import { explainProblem } from '../reports.tsx';
import { States } from '../states.tsx';
import { useApp } from '../use-app.ts';
import { ChangeListEnd } from './change-list-end.tsx';
import { ChangeTime, formatTime } from './change-time.tsx';

interface BookHistoryProps {
  readonly id: number;
  /** @param isRestored whether the book has been restored */
  readonly onClose: (isRestored: boolean) => void;
}

/** The changes of a book beside what the book is now; each of them can be restored. */
export function BookHistory({ id, onClose }: BookHistoryProps) {
  const { client, operations, history, session } = useApp();
  const t = allTexts.value;
  const now = useSignal<VersionedBook | undefined>(undefined);
  const refusal = useSignal('');
  const list = useMemo(
    () =>
      new ChangeList(async function* read(abort) {
        now.value = await client.find(id, { signal: abort });
        yield* client.history(id, { signal: abort });
      }),
    [id],
  );
  const changed = history.received.value.get(id)?.cursor;
  useEffect(() => void list.load(), [list, changed]);
  useEffect(() => () => list.close(), [list]);

  async function restore(state: Book): Promise<void> {
    const change = { before: now.value, after: state };
    const report = await operations.run('restored', [change]);
    if (report.done.length > 0) return onClose(true);
    refusal.value = explainProblem(report);
    void list.load();
  }

  const { value: changes } = list.changes;
  return (
    <>
      <StepHeading text={t.history} id={id} />
      {changes.length > 0 && now.value === undefined && <p class="quiet">{t.isDeleted}</p>}
      <ol class="entries">
        {changes.map((change) => (
          <Change
            key={change.cursor}
            change={change}
            now={now.value}
            onRestore={session.isReadOnly.value ? undefined : restore}
          />
        ))}
      </ol>
      <ChangeListEnd list={list} none={t.noChanges} />
      <p class="error" role="alert">
        {refusal.value}
      </p>
      <div class="buttons">
        <Button text={t.back} onClick={() => onClose(false)} />
      </div>
    </>
  );
}

interface ChangeProps {
  readonly change: BookChange;
  readonly now: VersionedBook | undefined;
  /** Undefined when it cannot be restored. */
  readonly onRestore: ((state: Book) => Promise<void>) | undefined;
}

function Change({ change: { type, at, book, gapAfter }, now, onRestore }: ChangeProps) {
  const t = allTexts.value;
  const isCurrent = now !== undefined && isSame<BookFields>(book, now);
  return (
    <li class="change card">
      {gapAfter && <p class="note">{t.historyGap}</p>}
      <div class="entry">
        <h3>
          {t.changeTypes[type]} <ChangeTime at={at} />
        </h3>
        {isCurrent ? (
          <span class="quiet">{t.isCurrent}</span>
        ) : (
          onRestore && (
            <Button
              text={t.restore}
              aria-label={formatMessage(t.restoreState, { time: formatTime(at) })}
              onClick={() => void onRestore(book)}
            />
          )
        )}
      </div>
      {!isCurrent && (
        <States
          states={[[t.then, formFieldsOf(book)], ...(now ? [[t.now, formFieldsOf(now)] as const] : [])]}
        />
      )}
    </li>
  );
}
