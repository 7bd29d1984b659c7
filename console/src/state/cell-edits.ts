import { signal } from '@preact/signals';
import type { Book } from 'bookkeeping-client/index.ts';
import { FIELDS, type Field } from 'bookkeeping-formats/row.ts';
import { type BookWriting, EditSession } from './edit-session.ts';
import { yearOf } from './fields.ts';

/** The edit of a field of a book in its cell. */
export interface CellEdit {
  readonly field: Field;
  readonly session: EditSession;
  /** Whether the text is typed over the former one: then an arrow key ends it. */
  readonly isTypedOver: boolean;
}

/** The edits of single cells. */
export class CellEdits {
  readonly open = signal<CellEdit | undefined>(undefined);
  /** The edits that could not be saved, to be continued in the dialog. */
  readonly failed = signal<readonly EditSession[]>([]);
  /** The edits that are being saved; their cells show the new texts. */
  readonly saving = signal<readonly CellEdit[]>([]);
  readonly #app: BookWriting;

  constructor(app: BookWriting) {
    this.#app = app;
  }

  /**
   * Opens a cell for editing. Its book is loaded only when it is saved.
   *
   * @param book undefined for a new one, whose cells are saved together
   * @param text typed instead of the present one
   */
  edit(book: Book | undefined, field: Field, text?: string, isTypedOver = text !== undefined): void {
    const id = book?.id ?? 'new';
    const { value: left } = this.open;
    const isContinued = left?.session.id === id && (id === 'new' || left.field === field);
    if (left && !isContinued && !this.save()) this.#fail(left.session);
    const session = isContinued ? left.session : new EditSession(this.#app, id, book && this.shown(book));
    // The cell may be open, and its editor not be there yet: what is typed replaces the stored text, as in the editor, or continues.
    const isTyped = isContinued && left.field === field && (left.isTypedOver || !session.isUnchanged);
    const before = text && isTyped ? session.draft.value[field] : '';
    if (text !== undefined) session.draft.value = { ...session.draft.value, [field]: before + text };
    this.open.value = { field, session, isTypedOver };
  }

  /** Continues as if the open cell had been opened to change its text: arrow keys move in it. */
  stay(): void {
    const { value: edit } = this.open;
    if (edit?.isTypedOver) this.open.value = { ...edit, isTypedOver: false };
  }

  /** The edit of this cell, if it is open. */
  of(id: EditSession['id'] | undefined, field: string): CellEdit | undefined {
    const { value: edit } = this.open;
    return edit?.session.id === id && edit?.field === field ? edit : undefined;
  }

  isSaving(id: EditSession['id'] | undefined, field: string): boolean {
    return this.saving.value.some((edit) => edit.session.id === id && edit.field === field);
  }

  /** The new book whose cells are being edited; undefined if there is none. */
  get newBook(): Book | undefined {
    const { value: edit } = this.open;
    return edit?.session.id === 'new' ? bookOf(edit.session) : undefined;
  }

  /** The new books that are being saved, in the order in which they were typed. */
  get added(): readonly Book[] {
    return this.saving.value
      .filter(({ session }) => session.id === 'new')
      .map(({ session }) => bookOf(session));
  }

  /** A book with the texts that are being saved. */
  shown(book: Book): Book {
    const shown = { ...book };
    for (const { field, session } of this.saving.value) {
      const { value: draft } = session.draft;
      if (session.id !== book.id) continue;
      if (field === 'year') shown.year = yearOf(draft) ?? book.year;
      else shown[field] = draft[field];
    }
    return shown;
  }

  /** Closes the open cell, and saves its text. @returns false for a text that cannot be saved */
  save(): boolean {
    const { value: edit } = this.open;
    if (!edit) return true;
    const { isUnchanged, problem } = edit.session;
    if (problem && !isUnchanged) return false;
    this.open.value = undefined;
    if (!isUnchanged) void this.#save(edit);
    return true;
  }

  /** Closes the open cell without saving. */
  close(): void {
    this.open.value = undefined;
  }

  /** Discards all edits, also those that are being saved. */
  clear(): void {
    for (const { session } of this.saving.value) session.cancel();
    this.open.value = undefined;
    this.failed.value = [];
  }

  /** Takes a failed edit, to continue or discard it. */
  take(id: EditSession['id']): EditSession | undefined {
    const found = this.failed.value.find((session) => session.id === id);
    if (found) this.failed.value = this.failed.value.filter((session) => session !== found);
    return found;
  }

  async #save(edit: CellEdit): Promise<void> {
    const { session } = edit;
    this.saving.value = [...this.saving.value, edit];
    await session.save();
    this.saving.value = this.saving.value.filter((other) => other !== edit);
    if (session.state.value.kind !== 'saved' && !session.isCancelled) this.#fail(session);
  }

  #fail(session: EditSession): void {
    this.failed.value = [...this.failed.value.filter(({ id }) => id !== session.id), session];
  }
}

/** A new book, as it is typed. */
function bookOf({ draft: { value: draft } }: EditSession): Book {
  return { ...draft, id: 0, year: yearOf(draft) ?? 0 };
}

/** The field of the next or the previous cell of the books, and in how many rows from this one. */
export function neighbour(field: Field, step: 1 | -1): { field: Field; rows: number } {
  const index = FIELDS.indexOf(field) + step;
  const next = FIELDS.at(index % FIELDS.length) ?? field;
  return { field: next, rows: Math.floor(index / FIELDS.length) };
}
