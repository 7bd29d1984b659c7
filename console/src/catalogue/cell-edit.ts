import { signal } from '@preact/signals';
import type { Book } from '../../../src/client/index.ts';
import { FIELDS, type Field } from '../../../src/formats/row.ts';
import { EditSession } from '../book/edit-session.ts';
import { yearOf } from '../book/fields.ts';
import { continueInDialog } from '../book/unfinished-edits.ts';

/** The edit of a field of a book in its cell. */
export interface CellEdit {
  readonly field: Field;
  readonly session: EditSession;
}

export const openCell = signal<CellEdit | undefined>(undefined);

/** The edits that are being saved; their cells show the new texts. */
const saving = signal<readonly CellEdit[]>([]);

/** Opens a cell for editing. Its book is loaded only when it is saved. */
export function editCell(book: Book, field: Field): void {
  const { value: left } = openCell;
  if (left && !saveCell()) continueInDialog(left.session, false);
  openCell.value = { field, session: new EditSession(book.id, withSaving(book)) };
}

/** The edit of this cell, if it is open. */
export function openEdit(book: Book | undefined, field: string): CellEdit | undefined {
  const { value: edit } = openCell;
  return edit?.session.id === book?.id && edit?.field === field ? edit : undefined;
}

/** A book with the texts that are being saved. */
export function withSaving(book: Book): Book {
  const shown = { ...book };
  for (const { field, session } of saving.value) {
    const { value: draft } = session.draft;
    if (session.id !== book.id) continue;
    if (field === 'year') shown.year = yearOf(draft) ?? book.year;
    else shown[field] = draft[field];
  }
  return shown;
}

export function isValid({ session }: CellEdit): boolean {
  return yearOf(session.draft.value) !== undefined;
}

/** The field of the next or the previous cell of the books, and in how many rows from this one. */
export function neighbour(field: Field, step: 1 | -1): { field: Field; rows: number } {
  const index = FIELDS.indexOf(field) + step;
  const next = FIELDS.at(index % FIELDS.length) ?? field;
  return { field: next, rows: Math.floor(index / FIELDS.length) };
}

/** Closes the open cell, and saves its text. What cannot be saved is kept for the dialog. @returns false for an invalid text */
export function saveCell(): boolean {
  const { value: edit } = openCell;
  if (!edit) return true;
  if (!isValid(edit)) return false;
  openCell.value = undefined;
  if (!edit.session.isUnchanged) void save(edit);
  return true;
}

/** Closes the open cell without saving. */
export function closeCell(): void {
  openCell.value = undefined;
}

/** The last save of each book. Each waits for the one before, which changes the version of the book. */
const lastSaves = new Map<EditSession['id'], Promise<void>>();

async function save(edit: CellEdit): Promise<void> {
  const { session } = edit;
  saving.value = [...saving.value, edit];
  const saved = (lastSaves.get(session.id) ?? Promise.resolve()).then(() => session.save());
  lastSaves.set(session.id, saved);
  await saved;
  saving.value = saving.value.filter((other) => other !== edit);
  if (session.state.value.kind === 'saved') return;
  // The user may be typing in another cell.
  continueInDialog(session, openCell.value === undefined);
}
