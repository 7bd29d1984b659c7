import { signal } from '@preact/signals';
import {
  type Book,
  type BookClient,
  type BookFields,
  RefusedError,
  type VersionedBook,
} from '../../../src/client/index.ts';
import type { BookList } from './book-list.ts';
import { changesOf, type FormFields, formFieldsOf, isNameless, isSame, merge, yearOf } from './fields.ts';
import type { Operations } from './operations.ts';

/**
 * The state of an edit.
 *
 * - `missing`: the book does not exist, or has been deleted;
 * - `conflict`: another user has changed the same field; `theirs` is that version;
 * - `saved`: the dialog closes.
 */
export type EditState =
  | { readonly kind: 'loading' | 'editing' | 'saving' | 'missing' }
  | { readonly kind: 'conflict'; readonly theirs: FormFields }
  | { readonly kind: 'saved'; readonly book: Book };

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
  base: VersionedBook | undefined;
  readonly #app: BookWriting;
  /** Whether `base` is the version in the list, whose entity tag is unknown. */
  #isListed = false;
  /** The last new book: a retry with the same content has the same key, and is stored once. */
  #created = { content: '', key: '' };

  /** @param listed the version that is shown, which can be edited at once */
  constructor(app: BookWriting, id: number | 'new', listed?: Book) {
    this.#app = app;
    this.id = id;
    if (listed) {
      this.base = { ...listed, etag: undefined };
      this.#isListed = true;
      this.draft.value = formFieldsOf(this.base);
      this.continueEditing();
    } else void this.load();
  }

  get isUnchanged(): boolean {
    return isSame(this.draft.value, formFieldsOf(this.base));
  }

  /** Why the draft cannot be saved: the year is none, or the book would have neither a title nor an author. */
  get problem(): 'year' | 'nameless' | undefined {
    const { value: draft } = this.draft;
    if (yearOf(draft) === undefined) return 'year';
    return isNameless(draft) && !(this.base && isNameless(this.base)) ? 'nameless' : undefined;
  }

  async load(): Promise<void> {
    const { id } = this;
    if (id === 'new') this.continueEditing();
    else
      await this.#attempt('loading', async () => {
        this.base = await this.#app.client.find(id);
        if (!this.base) return this.#missing(id);
        this.draft.value = formFieldsOf(this.base);
        return { kind: 'editing' };
      });
  }

  /** Saves the fields, if they are valid. Changes of other users to the same fields are shown, not overwritten. */
  async save(fields: FormFields = this.draft.value): Promise<void> {
    this.draft.value = fields;
    this.otherChange.value = undefined;
    const { base } = this;
    const { title, author } = fields;
    const year = yearOf(fields);
    if (this.problem || year === undefined) return;
    await this.#attempt('saving', () => (base ? this.#update(base) : this.#create({ title, author, year })));
  }

  /** Takes over what another user has changed. A conflict is left to {@link save}. */
  async follow(): Promise<void> {
    const { base, state } = this;
    if (!base || state.value.kind !== 'editing') return;
    const current = await this.#app.client.find(base.id).catch(() => base);
    if (this.base !== base || this.state.value.kind !== 'editing') return;
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

  async #create(fields: BookFields): Promise<EditState> {
    const content = JSON.stringify(fields);
    // `crypto.randomUUID` is undefined without TLS.
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    if (content !== this.#created.content) this.#created = { content, key };
    const { client, list, operations } = this.#app;
    const book = await client.create(fields, { idempotencyKey: this.#created.key });
    operations.record('added', [{ before: undefined, after: book }]);
    void list.refresh();
    return { kind: 'saved', book };
  }

  /** Saves the fields that differ from the base, merged with concurrent changes of other users. */
  async #update(base: VersionedBook): Promise<EditState> {
    const { id, etag = '*' } = base;
    const changes = changesOf(this.draft.value, base);
    if (Object.keys(changes).length === 0) return { kind: 'saved', book: base };
    if (this.#isListed) return this.#updateCurrent(base);
    try {
      const book = await this.#app.client.update(id, changes, { ifMatch: etag });
      if (!book) return this.#missing(id);
      const change = { before: base, after: book };
      this.#app.list.apply([change]);
      this.#app.operations.record('edited', [change]);
      return { kind: 'saved', book };
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 412)) throw error;
      return this.#updateCurrent(base, error);
    }
  }

  /** Loads the current version, and saves the fields of the draft that another user has not changed since `base`. */
  async #updateCurrent(base: VersionedBook, refusal?: RefusedError): Promise<EditState> {
    const current = await this.#app.client.find(base.id);
    if (!current) return this.#missing(base.id);
    // A retry with the same version would fail again.
    if (refusal && current.etag === base.etag) throw refusal;
    if (!isSame(current, base)) this.#app.list.apply([{ before: base, after: current }]);
    const { mine, theirs, isConflict } = merge(this.draft.value, base, current);
    this.#isListed = false;
    this.base = current;
    this.draft.value = mine;
    return isConflict ? { kind: 'conflict', theirs } : this.#update(current);
  }

  #missing(id: number): EditState {
    this.#app.list.apply([{ before: { id, title: '', author: '', year: 0 }, after: undefined }]);
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
