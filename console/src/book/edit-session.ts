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
 * Where the work on a book stands.
 *
 * - `loading`, `editing`, `saving`: as they say;
 * - `missing`: there is no such book, or not any more;
 * - `conflict`: somebody else has changed the same field since the book was loaded, to what stands in `theirs`;
 * - `saved`: all is done; the dialog goes.
 */
export type EditingState =
  | { readonly is: 'loading' | 'editing' | 'saving' | 'missing' }
  | { readonly is: 'conflict'; readonly theirs: TypedFields }
  | { readonly is: 'saved'; readonly book: Book; readonly isNew: boolean };

/** Somebody's work on a book, or on a new one. It outlives its dialog, so that nothing typed is lost. */
export class Editing {
  readonly id: number | 'new';
  readonly state = signal<EditingState>({ is: 'loading' });
  readonly typed = signal<TypedFields>(NO_FIELDS);
  /** Why the last step has failed. */
  readonly fault = signal<unknown>(undefined);
  /** The book as the service had it when it was loaded. */
  base: VersionedBook | undefined;
  /** The last create, so that the same one sent again happens once. */
  #create = { content: '', key: '' };

  constructor(id: number | 'new') {
    this.id = id;
    if (id === 'new') this.state.value = { is: 'editing' };
    else void this.load(id);
  }

  /** Whether nothing would be lost. */
  get isUnchanged(): boolean {
    return isUnchanged(this.typed.value, this.base);
  }

  /** Fetches the book. */
  async load(id: number): Promise<void> {
    this.state.value = { is: 'loading' };
    await this.#attempt('loading', async () => {
      this.base = await client.find(id);
      if (!this.base) return missing(id);
      this.typed.value = typedFieldsOf(this.base);
      return { is: 'editing' };
    });
  }

  /** Stores what is typed. Changes of others to the same fields are not overwritten, but shown. */
  async save(): Promise<void> {
    const { base, typed } = this;
    const year = yearOf(typed.value);
    if (year === undefined) return;
    this.state.value = { is: 'saving' };
    await this.#attempt('editing', () =>
      base
        ? this.#update(base)
        : this.#createBook({ title: typed.value.title, author: typed.value.author, year }),
    );
  }

  /** In a conflict: stores the others' version of the fields that both have changed, and the rest of what is typed. */
  async takeTheirs(): Promise<void> {
    if (this.state.value.is !== 'conflict') return;
    this.typed.value = this.state.value.theirs;
    await this.save();
  }

  /** In a conflict: goes on with what is typed. */
  editFurther(): void {
    if (this.state.value.is === 'conflict') this.state.value = { is: 'editing' };
  }

  /** Forgets what is typed. */
  discard(): void {
    this.typed.value = this.base ? typedFieldsOf(this.base) : NO_FIELDS;
  }

  /** When the book is gone: goes on with what is typed as with a new one. */
  createAnew(): void {
    this.base = undefined;
    this.state.value = { is: 'editing' };
  }

  async #createBook(fields: BookFields): Promise<EditingState> {
    const content = JSON.stringify(fields);
    if (content !== this.#create.content) this.#create = { content, key: newKey() };
    const { key } = this.#create;
    const book = await client.create(fields, { idempotencyKey: key });
    refresh();
    return { is: 'saved', book, isNew: true };
  }

  /** Stores the fields that differ from the base; merges them first with what others have changed meanwhile. */
  async #update(base: VersionedBook): Promise<EditingState> {
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
      // The version that is there has just been refused, and would be again.
      if (current.etag === etag) throw error;
      replace(current);
      const { mine, theirs, isConflict } = merge(this.typed.value, base, current);
      this.base = current;
      this.typed.value = mine;
      return isConflict ? { is: 'conflict', theirs } : this.#update(current);
    }
  }

  /** Does a step; when it fails, the work goes back to where it was, and the fault is shown. */
  async #attempt(fallback: 'loading' | 'editing', step: () => Promise<EditingState>): Promise<void> {
    this.fault.value = undefined;
    try {
      this.state.value = await step();
    } catch (error) {
      this.state.value = { is: fallback };
      this.fault.value = error;
    }
  }
}

/** What is not there any more is not shown in the list, either. */
function missing(id: number): EditingState {
  takeOut(id);
  return { is: 'missing' };
}

/** Pages that came without TLS have no `randomUUID`. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
