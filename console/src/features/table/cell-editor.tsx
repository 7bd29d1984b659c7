import type { TargetedFocusEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { allTexts } from '../../language/texts.ts';
import type { CellEdit } from '../../state/cell-edits.ts';
import { BookInput } from '../book-input.tsx';
import { useApp } from '../use-app.ts';
import type { EditorMoves } from './cells.ts';
import { handleEditorKey } from './editor-keys.ts';

interface CellEditorProps {
  readonly edit: CellEdit;
  readonly moves: EditorMoves;
}

/** The field in a cell that is being edited. */
export function CellEditor({ edit, moves }: CellEditorProps) {
  const { field, session } = edit;
  const app = useApp();
  const { cells } = app;
  const { id } = session;
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
  }, []);

  /**
   * Saves when the user leaves the cell, or the row of a new book, whose cells are saved together: not when the page itself takes the
   * focus, by a dialog or as it draws, nor when the user looks at another window.
   */
  function handleBlur({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>): void {
    const isTaken =
      !document.hasFocus() || !currentTarget.isConnected || document.querySelector('dialog[open]');
    const row = (relatedTarget as Element | null)?.closest('.row');
    if (isTaken || (id === 'new' && row?.contains(currentTarget))) return;
    if (cells.of(id, field)) cells.save();
  }

  const attributes = {
    ref: input,
    class: 'cell-editor',
    'aria-label': t.columns[field],
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem && 'cell-error',
    onKeyDown: (event: KeyboardEvent) => handleEditorKey(app, moves, event),
    onPointerDown: () => cells.stay(),
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
