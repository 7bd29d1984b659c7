import { signal } from '@preact/signals';
import type { Book, BookClient, BookFields } from 'bookkeeping-client/index.ts';
import { EMPTY_BOOK, findLongText } from 'bookkeeping-formats/row.ts';
import type { BookList } from './book-list.ts';
import { editedFields, type FormFields, formFieldsOf, isNameless, isSame, merge, yearOf } from './fields.ts';
import type { Operations } from './operations.ts';
import type { Failure } from './selection.ts';

/**
 * The state of an edit.
 *
 * - `missing`: the book does not exist, or has been deleted;
 * - `conflict`: another user has changed the same field; `theirs` is that version;
 * - `saved`: the dialog closes.
 */
type EditState =
  | { readonly kind: 'loading' | 'editing' | 'saving' | 'missing' }
  | { readonly kind: 'conflict'; readonly theirs: FormFields }
  | { readonly kind: 'saved'; readonly book: Book };

const NO_BOOK: Book = { id: 0, ...EMPTY_BOOK };

/** What writes books and shows them. */
export interface BookWriting {
  readonly client: BookClient;
  readonly list: BookList;
  readonly operations: Operations;
}

/** The edit of a book, or of a new one. */
export class EditSession {
  readonly id: number | 'new';
  readonly state = signal<EditState>({ kind: 'loading' });
  readonly draft = signal(formFieldsOf(undefined));
  readonly error = signal<unknown>(undefined);
  /** What another user has changed since the book was loaded: other fields, which are shown, or the same. */
  readonly otherChange = signal<'otherFields' | 'sameField' | undefined>(undefined);
  base: Book | undefined;
  #loaded = Promise.resolve();
  readonly #app: BookWriting;
  readonly #cancelled = new AbortController();

  /** @param listed the version that is shown, which can be edited at once */
  constructor(app: BookWriting, id: number | 'new', listed?: Book) {
    this.#app = app;
    this.id = id;
    if (listed) {
      this.base = listed;
      this.draft.value = formFieldsOf(listed);
      this.continueEditing();
    } else void this.load();
  }

  get isUnchanged(): boolean {
    return isSame(this.draft.value, formFieldsOf(this.base));
  }

  /** Why the draft cannot be saved: the year is none, a new text is too long, or the book would have neither a title nor an author. */
  get problem(): 'year' | 'long' | 'nameless' | undefined {
    const { value: draft } = this.draft;
    if (yearOf(draft) === undefined) return 'year';
    if (findLongText(editedFields(draft, this.base ?? NO_BOOK))) return 'long';
    return isNameless(draft) && !(this.base && isNameless(this.base)) ? 'nameless' : undefined;
  }

  get isCancelled(): boolean {
    return this.#cancelled.signal.aborted;
  }

  /** Ends a {@link save} that waits; what is being stored may be stored. */
  cancel(): void {
    this.#cancelled.abort();
  }

  async load(): Promise<void> {
    const { id } = this;
    if (id === 'new') this.continueEditing();
    else
      this.#loaded = this.#attempt('loading', async () => {
        this.base = await this.#app.client.find(id);
        if (!this.base) return this.#missing(id);
        this.draft.value = formFieldsOf(this.base);
        return { kind: 'editing' };
      });
    await this.#loaded;
  }

  /** Saves the fields, if they are valid. Changes of other users to the same fields are shown, not overwritten. */
  async save(fields: FormFields = this.draft.value): Promise<void> {
    this.draft.value = fields;
    this.otherChange.value = undefined;
    if (!this.problem) await this.#attempt('saving', () => this.#write());
  }

  /** Takes over what another user has changed. A conflict is left to {@link save}. */
  async follow(): Promise<void> {
    // What is being loaded may be of before the change.
    await this.#loaded;
    const { base, state } = this;
    if (!base || state.value.kind !== 'editing') return;
    const current = await this.#app.client.find(base.id).catch(() => base);
    if (this.state.value.kind !== 'editing') return;
    // Another call was faster, with a version that may be earlier.
    if (this.base !== base) return this.follow();
    if (!current) this.state.value = this.#missing(base.id);
    else if (!isSame<BookFields>(current, base)) {
      const { mine, isConflict } = merge(this.draft.value, base, current);
      this.otherChange.value = isConflict ? 'sameField' : 'otherFields';
      if (isConflict) return;
      this.base = current;
      this.draft.value = mine;
    }
  }

  continueEditing(): void {
    this.state.value = { kind: 'editing' };
  }

  /** Continues the edit of a deleted book as a new book. */
  becomeNew(): void {
    this.base = undefined;
    this.continueEditing();
  }

  /** Saves the fields that differ from the base; a new book has none. */
  async #write(): Promise<EditState> {
    const { base, draft } = this;
    const former = base ?? NO_BOOK;
    const after = { ...former, ...editedFields(draft.value, former) };
    if (base && isSame<BookFields>(base, after)) return { kind: 'saved', book: base };
    const result = await this.#app.operations.save({ before: base, after }, this.#cancelled.signal);
    return 'reason' in result
      ? this.#resolve(result, former)
      : { kind: 'saved', book: result.after ?? after };
  }

  /** Continues after another user has deleted the book or changed the same field. @throws any other reason */
  #resolve({ reason, now }: Failure, base: Book): EditState | Promise<EditState> {
    if (reason === 'missing') return this.#missing(base.id);
    if (!now) throw reason;
    this.#app.list.apply([{ before: base, after: now }]);
    const { mine, theirs, isConflict } = merge(this.draft.value, base, now);
    this.base = now;
    this.draft.value = mine;
    return isConflict ? { kind: 'conflict', theirs } : this.#write();
  }

  #missing(id: number): EditState {
    this.#app.list.apply([{ before: { id, ...EMPTY_BOOK }, after: undefined }]);
    return { kind: 'missing' };
  }

  /** Runs a step. If it fails, the user sees the error and can try again. */
  async #attempt(during: 'loading' | 'saving', step: () => Promise<EditState>): Promise<void> {
    this.state.value = { kind: during };
    this.error.value = undefined;
    try {
      this.state.value = await step();
    } catch (error) {
      this.state.value = { kind: during === 'loading' ? 'loading' : 'editing' };
      this.error.value = error;
    }
  }
}
