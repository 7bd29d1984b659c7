import type { TargetedFocusEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../../language/texts.ts';
import type { CellEdit } from '../../state/cell-edits.ts';
import { AuthorSuggestions, hasSuggestions } from '../author-suggestions.tsx';
import { useApp } from '../use-app.ts';

interface CellEditorProps {
  readonly edit: CellEdit;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The field in a cell that is being edited. */
export function CellEditor({ edit, onKeyDown }: CellEditorProps) {
  const { field, session } = edit;
  const { cells } = useApp();
  const t = texts.value;
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const { draft } = session;
  const problem = session.isUnchanged ? undefined : session.problem;
  const text = draft.value[field];
  const isSuggested = useRef(field === 'author' && hasSuggestions(text)).current;
  const isTyped = useRef(!session.isUnchanged).current;
  useLayoutEffect(() => {
    // At once, so that no key is lost.
    input.current?.focus();
    if (isTyped) input.current?.setSelectionRange(text.length, text.length);
    else input.current?.select();
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

  const props = {
    ref: input,
    class: 'cell-editor',
    dir: 'auto',
    value: text,
    'aria-label': t.columns[field],
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem && 'cell-error',
    onInput({ currentTarget }: { readonly currentTarget: { readonly value: string } }) {
      draft.value = { ...draft.value, [field]: currentTarget.value };
    },
    onKeyDown,
    onBlur: handleBlur,
  } as const;
  return (
    <>
      <span class="text cell-place">
        {'\u200b'}
        {isSuggested ? (
          <>
            <input {...props} list="cell-authors" autocomplete="off" />
            <AuthorSuggestions id="cell-authors" text={text} />
          </>
        ) : (
          <textarea {...props} rows={1} />
        )}
      </span>
      {problem && (
        <p id="cell-error" class="cell-error" role="alert">
          {problem === 'year' ? t.invalidYear : t.emptyBook}
        </p>
      )}
    </>
  );
}
