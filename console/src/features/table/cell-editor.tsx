import type { TargetedFocusEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { allTexts } from '../../language/texts.ts';
import type { CellEdit } from '../../state/cell-edits.ts';
import { BookInput } from '../book-input.tsx';
import { useApp } from '../use-app.ts';

interface CellEditorProps {
  readonly edit: CellEdit;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The field in a cell that is being edited. */
export function CellEditor({ edit, onKeyDown }: CellEditorProps) {
  const { field, session } = edit;
  const { cells } = useApp();
  const t = allTexts.value;
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const problem = session.isUnchanged ? undefined : session.problem;
  useLayoutEffect(() => {
    // At once, so that no key is lost.
    input.current?.focus();
    const { length } = session.draft.peek()[field];
    // What was typed continues.
    if (session.isUnchanged) input.current?.select();
    else input.current?.setSelectionRange(length, length);
    // Its row may no longer be displayed.
    return saveIfOpen;
  }, []);

  function saveIfOpen(): void {
    if (cells.open.peek() === edit) cells.save();
  }

  /** The cells of a new book are saved together, when the focus leaves its row. */
  function handleBlur({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>): void {
    const row = (relatedTarget as Element | null)?.closest('.row');
    if (session.id !== 'new' || !row?.contains(currentTarget)) saveIfOpen();
  }

  const attributes = {
    ref: input,
    class: 'cell-editor',
    'aria-label': t.columns[field],
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem && 'cell-error',
    onKeyDown,
    onBlur: handleBlur,
  };
  return (
    <>
      <span class="text cell-place">
        {'\u200b'}
        <BookInput name={field} draft={session.draft} attributes={attributes} />
      </span>
      {problem && (
        <p id="cell-error" class="cell-error" role="alert">
          {{ year: t.invalidYear, long: t.longText, nameless: t.emptyBook }[problem]}
        </p>
      )}
    </>
  );
}
