import { useSignal } from '@preact/signals';
import type { Book, BookChange } from 'bookkeeping-client/index.ts';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { language } from '../../language/language.ts';
import { allTexts, explain, formatYear } from '../../language/texts.ts';
import type { Report } from '../../state/operations.ts';
import { type ChangeGroup, PastChanges } from '../../state/past-changes.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, focusNext, StepHeading } from '../../ui/dialog.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { explainProblem, quote } from '../reports.tsx';
import { useApp } from '../use-app.ts';
import { ChangeTime, formatDay, formatTime } from './change-time.tsx';

/** The lines, and the books of a line, that are shown, and that each further step adds. */
const SHOWN = 100;
/** So many books of a line are named in it. */
const NAMED_MAX = 3;

export function HistoryDialog() {
  const { dialogs } = useApp();
  const close = () => dialogs.close();
  return (
    <Dialog label={allTexts.value.history} class="wide" onDismiss={close}>
      <History closeText={allTexts.value.close} onClose={close} />
    </Dialog>
  );
}

interface HistoryProps {
  /** Of the book; undefined for all books. */
  readonly id?: number;
  readonly closeText: string;
  readonly onClose: () => void;
}

/** What has happened, the last change first; each of the changes can be undone, and states of a single book restored. */
export function History({ id, closeText, onClose }: HistoryProps) {
  const app = useApp();
  const { history, operations, session } = app;
  const t = allTexts.value;
  const past = useMemo(() => new PastChanges(app, id), [id]);
  const shown = useSignal(SHOWN);
  const isBusy = useSignal(false);
  const problem = useSignal('');
  /** The line whose button was pressed, which may disappear. */
  const pressed = useRef<Element | null>(null);
  const { value: received } = history.received;
  useEffect(() => {
    if (id === undefined || past.changes.peek().length === 0 || received.has(id)) void past.refresh();
  }, [past, received]);
  useEffect(() => () => past.close(), [past]);

  async function run(work: () => Promise<Report>): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = '';
    pressed.current = document.activeElement?.closest('.entry') ?? null;
    try {
      problem.value = explainProblem(await work());
    } catch (error) {
      problem.value = explain(error);
    }
    isBusy.value = false;
    void past.refresh();
  }

  const { value: state } = past.state;
  const { value: groups } = past.groups;
  useEffect(() => focusNext(pressed.current), [groups, state, isBusy.value]);
  const { value: progress } = operations.progress;
  const line: LineActions = { past, isBusy: isBusy.value, run: session.isReadOnly.value ? undefined : run };
  const hasMore = state === 'more' || groups.length > shown.value;
  const days = Map.groupBy(groups.slice(0, shown.value), ([{ at }]) => formatDay(at));
  return (
    <>
      <StepHeading text={t.history} id={id} note={id === undefined ? t.historyHint : undefined} />
      <div class="history">
        {[...days].map(([day, lines]) => (
          <section key={day} aria-label={day}>
            <h3>{day}</h3>
            <ol class="day">
              {lines.map((group) =>
                group.length === 1 ? (
                  <ChangeLine key={group[0].cursor} change={group[0]} isOfBook={id !== undefined} {...line} />
                ) : (
                  <GroupLine key={group[0].cursor} group={group} {...line} />
                ),
              )}
            </ol>
          </section>
        ))}
      </div>
      <div class="step" role="status">
        {state === 'loading' && <p class="quiet">{t.loading}</p>}
        {state === 'complete' && groups.length === 0 && <p class="quiet">{t.noChanges}</p>}
        {state === 'failed' && <p class="error">{explain(past.error.value)}</p>}
        {progress && (
          <progress value={progress.done} max={progress.total} aria-label={t.steps[progress.step]} />
        )}
      </div>
      <p class="error" role="alert">
        {problem.value}
      </p>
      <div class="buttons">
        {state === 'failed' && <Button text={t.tryAgain} variant="first" onClick={() => void past.load()} />}
        {hasMore && state !== 'loading' && (
          <Button
            text={t.showMore}
            variant="first"
            onClick={() => {
              shown.value += SHOWN;
              if (groups.length < shown.value && state === 'more') void past.more();
            }}
          />
        )}
        <Button text={closeText} variant="primary" onClick={onClose} />
      </div>
    </>
  );
}

interface LineActions {
  readonly past: PastChanges;
  readonly isBusy: boolean;
  /** Undoes or restores something; undefined in a read-only session. */
  readonly run: ((work: () => Promise<Report>) => Promise<void>) | undefined;
}

/**
 * A change of many books, which opens into them. Others may have made some of them, unless it is of this session: so it names the
 * books, or opens before it is undone.
 */
function GroupLine({ group, ...line }: LineActions & { readonly group: ChangeGroup }) {
  const { past, isBusy, run } = line;
  const t = allTexts.value;
  const shown = useSignal(0);
  const isOpened = useSignal(false);
  const [{ type, at }] = group;
  const count = formatMessage(past.isOpen(group) ? t.atLeast : t.count, { count: group.length });
  const isNamed = group.length <= NAMED_MAX && !past.isOpen(group);
  const titles = new Intl.ListFormat(language.value).format(
    group.slice(0, NAMED_MAX).map(({ book }) => quote(book)),
  );
  const name = formatMessage(t.operationKinds[KINDS[type]], { books: isNamed ? titles : count });
  const needsLook = !isNamed && !isOpened.value && !past.isOwn(group);
  const isUndoable = useMemo(
    () => group.some((change) => past.canUndo(change)),
    [group, past.changes.value, past.state.value],
  );
  return (
    <li class="entry">
      <details
        open={isOpened.value}
        onToggle={({ currentTarget: { open } }) => {
          isOpened.value = open;
          shown.value = open ? SHOWN : 0;
        }}
      >
        <summary>
          {name} <ChangeTime at={at} />
        </summary>
        <ol>
          {group.slice(0, shown.value).map((change) => (
            <ChangeLine key={change.cursor} change={change} isOfGroup {...line} />
          ))}
        </ol>
        {shown.value < group.length && (
          <Button text={t.showMore} variant="ghost" onClick={() => (shown.value += SHOWN)} />
        )}
      </details>
      {run && isUndoable && (
        <Button
          variant="ghost"
          text={t.undo}
          aria-label={`${t.undo}: ${name}`}
          aria-disabled={isBusy}
          onClick={() => {
            if (needsLook) isOpened.value = true;
            else void run(() => past.undo(group));
          }}
        />
      )}
    </li>
  );
}

interface ChangeLineProps extends LineActions {
  readonly change: BookChange;
  readonly isOfBook?: boolean;
  /** Whether a line above says what was done, and when. */
  readonly isOfGroup?: boolean;
}

/** A change of one book, with the fields that it has changed. */
function ChangeLine({ change, isOfBook, isOfGroup, past, isBusy, run }: ChangeLineProps) {
  const t = allTexts.value;
  const { type, at, book, gapAfter } = change;
  /** Undefined until it is read; null if it is not known. */
  const before = useSignal<Book | null | undefined>(undefined);
  useEffect(() => {
    if (type === 'updated')
      past.before(change).then(
        (found) => (before.value = found ?? null),
        () => {},
      );
  }, [change]);
  const name = formatMessage(t.operationKinds[KINDS[type]], { books: quote(book) });
  const canUndo = past.canUndo(change) && before.value !== null;
  return (
    <li class="entry change">
      <div>
        {gapAfter && <p class="note">{t.historyGap}</p>}
        <p>
          {isOfGroup ? quote(book) : name} {!isOfGroup && <ChangeTime at={at} />}
        </p>
        {detailsOf(before.value, book, type).map((detail) => (
          <p key={detail} class="quiet small" dir="auto">
            {detail}
          </p>
        ))}
      </div>
      {run && (canUndo || (isOfBook && !past.isNow(change))) && (
        <Button
          variant="ghost"
          text={canUndo ? t.undo : t.restore}
          aria-label={
            canUndo ? `${t.undo}: ${name}` : formatMessage(t.restoreState, { time: formatTime(at) })
          }
          aria-disabled={isBusy}
          onClick={() => void run(() => (canUndo ? past.undo([change]) : past.restore(change)))}
        />
      )}
    </li>
  );
}

const KINDS = { created: 'added', updated: 'edited', deleted: 'deleted' } as const;

/** A line for each field that has changed: `Year: 1815 → 1816`; of a book that is added or deleted, author and year. */
function detailsOf(before: Book | null | undefined, book: Book, type: BookChange['type']): string[] {
  const { columns, beforeUnknown } = allTexts.value;
  if (before === null) return [beforeUnknown];
  if (type !== 'updated') return [`${textOf('author', book)} · ${textOf('year', book)}`];
  return FIELDS.filter((field) => before && before[field] !== book[field]).map(
    (field) => `${columns[field]}: ${textOf(field, before as Book)} → ${textOf(field, book)}`,
  );
}

function textOf(field: Field, { [field]: value }: Book): string {
  return (typeof value === 'number' ? formatYear(value) : visibleText(value)) || '–';
}
