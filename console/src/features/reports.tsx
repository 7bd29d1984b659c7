import { useSignalEffect } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { useEffect, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import { allTexts, explain } from '../language/texts.ts';
import type { App } from '../state/app.ts';
import { Follower } from '../state/follower.ts';
import type { Operation, Report } from '../state/operations.ts';
import type { Failure } from '../state/selection.ts';
import type { Toast } from '../state/toasts.ts';
import { returnFocus } from '../ui/dialog.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useApp } from './use-app.ts';

const NAME_LENGTH_MAX = 60;

/** Tells in a notification what was done, undone or not saved, and follows what others change. */
export function Reports() {
  const app = useApp();
  useEffect(() => {
    const follower = new Follower(app, new URL('features.json', document.baseURI));
    return () => follower.close();
  }, []);
  useSignalEffect(() => {
    const { value: report } = app.operations.report;
    app.toasts.show(report && toastOf(app, report));
  });
  const isRunning = useRef(false);
  useSignalEffect(() => {
    const wasRunning = isRunning.current;
    isRunning.current = app.operations.progress.value !== undefined;
    // The button that had the focus was replaced by the progress.
    if (wasRunning && !isRunning.current) setTimeout(() => returnFocus(null));
  });
  useSignalEffect(() => {
    const failed = app.cells.failed.value.at(-1);
    if (!failed) return;
    const open = () => app.dialogs.show({ kind: 'book', id: failed.id });
    // The user may be typing in another cell.
    if (app.cells.open.peek() === undefined) open();
    else
      app.toasts.show({
        text: () => allTexts.value.notSaved,
        isError: true,
        actions: [{ label: () => allTexts.value.continueEditing, run: open }],
      });
  });
  useSignalEffect(() => {
    const { session, toasts } = app;
    if (!session.endsSoon.value) return undefined;
    const warning: Toast = {
      text: () => allTexts.value.sessionEnds,
      isError: true,
      actions: [
        {
          label: () => allTexts.value.signIn,
          run: () => (session.isAsked.value = true),
          keepsFocus: true,
        },
      ],
    };
    toasts.show(warning);
    return () => {
      if (toasts.shown.peek() === warning) toasts.show(undefined);
    };
  });
  return null;
}

function toastOf({ operations, list, address }: App, report: Report): Toast | undefined {
  const { operation, done, failures, left, error, isRenumbered } = report;
  const text = () =>
    [
      done.length > 0 && nameOfOperation(operation),
      isRenumbered && allTexts.value.renumbered,
      failures.length > 0 && explainFailures(failures),
      error !== undefined &&
        formatMessage(
          done.length + left.length > 1 ? allTexts.value.commandFailed : allTexts.value.notStored,
          {
            reason: explain(error),
          },
        ),
    ]
      .filter(Boolean)
      .join(' ');
  const { kind, isUndone } = operation;
  const added = kind === 'added' && !isUndone ? done[0]?.after : undefined;
  const actions = [
    error !== undefined &&
      left.length > 0 && { label: () => allTexts.value.tryAgain, run: () => void operations.run(kind, left) },
    done.length > 0 && {
      label: () => (isUndone ? allTexts.value.redo : allTexts.value.undo),
      run: () => void operations.reverse(operation),
    },
    added && {
      label: () => formatMessage(allTexts.value.showBooks, { count: done.length }),
      run: () => (address.isSearch.value ? address.showNewest() : void list.reveal(added)),
    },
  ].filter((action) => typeof action === 'object');
  return text() === '' ? undefined : { text, actions, isError: error !== undefined || failures.length > 0 };
}

/** What an operation has done, or that it is undone. */
function nameOfOperation({ kind, changes, isUndone }: Operation): string {
  const t = allTexts.value;
  const [first] = changes;
  const { before, after } = first ?? {};
  const book = isUndone ? (before ?? after) : (after ?? before);
  const books =
    book && changes.length === 1 ? quote(book) : formatMessage(t.count, { count: changes.length });
  return formatMessage((isUndone ? t.undone : t.operationKinds)[kind], { books });
}

/** Why changes were not made; '' if all were. */
export function explainProblem({ failures, error }: Pick<Report, 'failures' | 'error'>): string {
  return error === undefined ? explainFailures(failures) : explain(error);
}

function explainFailures(failures: readonly Failure[]): string {
  const t = allTexts.value;
  const [first] = failures;
  if (!first) return '';
  if (failures.length === 1) return `${quote(first.book)} ${explainFailure(first)}`;
  const isUnknown = failures.every(({ reason }) => reason === 'unknown');
  return `${formatMessage(t.failedBooks, { count: failures.length })} ${isUnknown ? t.beforeUnknown : ''}`.trim();
}

export function explainFailure({ reason }: Failure): string {
  return typeof reason === 'string' ? allTexts.value.failures[reason] : explain(reason);
}

function cut(text: string): string {
  return text.length <= NAME_LENGTH_MAX ? text : `${text.slice(0, NAME_LENGTH_MAX - 1).trimEnd()}…`;
}

export function quote({ title }: Book): string {
  const { noTitle, quotedWord } = allTexts.value;
  return title === '' ? noTitle : formatMessage(quotedWord, { word: cut(visibleText(title)) });
}
