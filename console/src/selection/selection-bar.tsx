// oxlint-disable-next-line import/no-unassigned-import -- a style sheet exports nothing
import '../style/selection.css';
import { useSignal } from '@preact/signals';
import { total } from '../catalogue/catalogue.ts';
import { openExport } from '../files/opened-dialog.ts';
import { formatMessage } from '../language/format.ts';
import { formatNumber } from '../language/language.ts';
import { allTexts, explain } from '../language/texts.ts';
import { LinkButton } from '../page/button.tsx';
import { focusBooks } from '../page/dialog.tsx';
import { COMMAND_BOOKS_MAX, commandError, deleteSelected, progress, stopCommand } from './commands.ts';
import { FailureList } from './failure-list.tsx';
import { FieldDialog } from './field-dialog.tsx';
import { clearSelection, selectAll, selectedCount } from './selection.ts';

/** The number of selected books, and what can be done with them; while a command runs, its progress. */
export function SelectionBar() {
  const t = allTexts.value;
  const field = useSignal<'author' | 'year' | undefined>(undefined);
  const count = selectedCount.value;
  if (progress.value) return <CommandProgress {...progress.value} />;
  if (count === 0) return null;
  const isTooMany = count > COMMAND_BOOKS_MAX;
  return (
    <section class="selection" aria-label={t.selection}>
      <strong>{formatMessage(t.selected, { count })}</strong>
      {total.value !== undefined && count < total.value && (
        <LinkButton text={formatMessage(t.selectAllBooks, { count: total.value })} onClick={selectAll} />
      )}
      {isTooMany ? (
        <span class="quiet">{formatMessage(t.tooManySelected, { max: COMMAND_BOOKS_MAX })}</span>
      ) : (
        <>
          <LinkButton text={t.setAuthor} onClick={() => (field.value = 'author')} />
          <LinkButton text={t.setYear} onClick={() => (field.value = 'year')} />
        </>
      )}
      <LinkButton text={t.export} onClick={() => openExport(true)} />
      {!isTooMany && (
        <LinkButton text={t.delete} variant="danger" onClick={() => runAndFocus(deleteSelected)} />
      )}
      <LinkButton
        text="✕"
        aria-label={t.clearSelection}
        variant="last"
        onClick={() => runAndFocus(clearSelection)}
      />
      {commandError.value !== undefined && (
        <p class="error" role="alert">
          {formatMessage(t.commandFailed, { reason: explain(commandError.value) })}
        </p>
      )}
      <FailureList />
      {field.value && <FieldDialog field={field.value} onClose={() => (field.value = undefined)} />}
    </section>
  );
}

/** Moves the focus to the books, as the button that had it disappears. */
function runAndFocus(command: () => unknown): void {
  void command();
  focusBooks({ preventScroll: true });
}

function CommandProgress({ step, done, total: max }: NonNullable<typeof progress.value>) {
  const t = allTexts.value;
  return (
    <section class="selection" aria-label={t.selection}>
      <strong>{t.steps[step]}</strong>
      <progress value={done} max={max} aria-label={t.steps[step]} />
      <span class="numbers">
        {formatMessage(t.progress, { done: formatNumber(done), total: formatNumber(max) })}
      </span>
      <LinkButton text={t.stop} variant="last" onClick={stopCommand} />
    </section>
  );
}
