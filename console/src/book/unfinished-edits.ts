import { effect } from '@preact/signals';
import { texts } from '../language/texts.ts';
import { show } from '../page/address.ts';
import { showBriefly } from '../page/toasts.tsx';
import { warnBeforeLeaving } from '../page/warn-before-leaving.ts';
import { signInState } from '../session/session.ts';
import { EditSession } from './edit-session.ts';

/** The unfinished edits, by the id of the book. */
const edits = new Map<number | 'new', EditSession>();

effect(() => {
  if (signInState.value === 'out') edits.clear();
});

warnBeforeLeaving(() => [...edits.values()].some((edit) => !edit.isUnchanged));

/** The unfinished edit of a book, or a new one. */
export function unfinishedEdit(book: number | 'new'): EditSession {
  const edit = edits.get(book) ?? new EditSession(book);
  edits.set(book, edit);
  return edit;
}

/** Continues an edit in the dialog: now, or when the user chooses to. */
export function continueInDialog(edit: EditSession, isNow: boolean): void {
  edits.set(edit.id, edit);
  if (isNow) show({ book: edit.id });
  else keepUnfinished(edit);
}

export function keepUnfinished({ id, state, isUnchanged }: EditSession): void {
  if (isUnchanged || state.value.kind === 'saved') edits.delete(id);
  else if (signInState.value !== 'out')
    showBriefly({
      text: () => texts.value.notSaved,
      action: { label: () => texts.value.continueEditing, run: () => show({ book: id }) },
    });
}

/** Shows that another user may have changed a book. */
export function followEdit(id: number): void {
  void edits.get(id)?.follow();
}
