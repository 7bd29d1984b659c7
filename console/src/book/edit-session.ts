import { signal } from '@preact/signals';
import { type Book, type BookFields, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { refresh, replace, takeOut } from '../catalogue/catalogue.ts';
import { client } from '../session/session.ts';
import {
  changesOf,
  isUnchanged,
  merge,
  NO_FIELDS,
  type TypedFields,
  typedFieldsOf,
  yearOf,
} from './fields.ts';

/**
 * The state of an edit.
 *
 * - `missing`: the book does not exist, or no longer;
 * - `conflict`: another user has changed the same field, to what is in `theirs`;
 * - `saved`: the dialog closes.
 */
export type EditState =
  | { readonly is: 'loading' | 'editing' | 'saving' | 'missing' }
  | { readonly is: 'conflict'; readonly theirs: TypedFields }
  | { readonly is: 'saved'; readonly book: Book; readonly isNew: boolean };

/** The edit of a book, or of a new one. It outlives its dialog, so that nothing typed is lost. */
export class EditSession {
  readonly id: number | 'new';
  readonly state = signal<EditState>({ is: 'loading' });
  readonly typed = signal<TypedFields>(NO_FIELDS);
  readonly fault = signal<unknown>(undefined);
  base: VersionedBook | undefined;
  /** The last create: the same content is sent with the same key, and is stored once. */
  #create = { content: '', key: '' };

  constructor(id: number | 'new') {
    this.id = id;
    void this.load();
  }

  get isUnchanged(): boolean {
    return isUnchanged(this.typed.value, this.base);
  }

  async load(): Promise<void> {
    const { id } = this;
    if (id === 'new') this.state.value = { is: 'editing' };
    else
      await this.#attempt('loading', async () => {
        this.base = await client.find(id);
        if (!this.base) return missing(id);
        this.typed.value = typedFieldsOf(this.base);
        return { is: 'editing' };
      });
  }

  /** Stores the fields. Changes of other users to the same fields are shown, not overwritten. */
  async save(fields: TypedFields = this.typed.value): Promise<void> {
    this.typed.value = fields;
    const { base } = this;
    const year = yearOf(fields);
    if (year === undefined) return;
    await this.#attempt('saving', () =>
      base ? this.#update(base) : this.#createBook({ title: fields.title, author: fields.author, year }),
    );
  }

  continueEditing(): void {
    this.state.value = { is: 'editing' };
  }

  discard(): void {
    this.typed.value = this.base ? typedFieldsOf(this.base) : NO_FIELDS;
  }

  /** Turns the edit of a deleted book into that of a new one. */
  becomeNew(): void {
    this.base = undefined;
    this.state.value = { is: 'editing' };
  }

  async #createBook(fields: BookFields): Promise<EditState> {
    const content = JSON.stringify(fields);
    if (content !== this.#create.content) this.#create = { content, key: newKey() };
    const book = await client.create(fields, { idempotencyKey: this.#create.key });
    refresh();
    return { is: 'saved', book, isNew: true };
  }

  /** Stores the fields that differ from the base, merged with what other users have changed meanwhile. */
  async #update(base: VersionedBook): Promise<EditState> {
    const { id, etag = '*' } = base;
    const changes = changesOf(this.typed.value, base) ?? {};
    if (Object.keys(changes).length === 0) return { is: 'saved', book: base, isNew: false };
    try {
      const book = await client.update(id, changes, { ifMatch: etag });
      if (!book) return missing(id);
      replace(book);
      return { is: 'saved', book, isNew: false };
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 412)) throw error;
      const current = await client.find(id);
      if (!current) return missing(id);
      // The service has just rejected this version, and would reject it again.
      if (current.etag === etag) throw error;
      replace(current);
      const { mine, theirs, isConflict } = merge(this.typed.value, base, current);
      this.base = current;
      this.typed.value = mine;
      return isConflict ? { is: 'conflict', theirs } : this.#update(current);
    }
  }

  /** Runs a step; when it fails, the user sees the error and can try again. */
  async #attempt(during: 'loading' | 'saving', step: () => Promise<EditState>): Promise<void> {
    this.state.value = { is: during };
    this.fault.value = undefined;
    try {
      this.state.value = await step();
    } catch (error) {
      this.state.value = { is: during === 'loading' ? 'loading' : 'editing' };
      this.fault.value = error;
    }
  }
}

function missing(id: number): EditState {
  takeOut(id);
  return { is: 'missing' };
}

/** Pages served without TLS have no `crypto.randomUUID`. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
