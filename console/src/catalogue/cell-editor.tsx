import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../language/texts.ts';
import { type CellEdit, isValid, openCell, saveCell } from './cell-edit.ts';

interface CellEditorProps {
  readonly edit: CellEdit;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The field in a cell that is being edited. */
export function CellEditor({ edit, onKeyDown }: CellEditorProps) {
  const t = texts.value;
  const input = useRef<HTMLTextAreaElement>(null);
  const { draft } = edit.session;
  const isInvalid = !isValid(edit);
  useLayoutEffect(() => {
    // At once, so that no key is lost.
    input.current?.focus();
    input.current?.select();
    // Its row may no longer be displayed.
    return saveIfOpen;
  }, []);

  function saveIfOpen(): void {
    if (openCell.peek() === edit) saveCell();
  }

  return (
    <>
      <textarea
        ref={input}
        class="cell-editor"
        rows={1}
        dir="auto"
        value={draft.value[edit.field]}
        aria-label={t.columns[edit.field]}
        aria-invalid={isInvalid}
        aria-describedby={isInvalid ? 'cell-error' : undefined}
        onInput={({ currentTarget }) => {
          draft.value = { ...draft.value, [edit.field]: currentTarget.value };
        }}
        onKeyDown={onKeyDown}
        onBlur={saveIfOpen}
      />
      {isInvalid && (
        <p id="cell-error" class="cell-error" role="alert">
          {t.invalidYear}
        </p>
      )}
    </>
  );
}
