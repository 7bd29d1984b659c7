import { signal } from '@preact/signals';
import { type Book, type BookFields, RefusedError, type VersionedBook } from '../../../src/client/index.ts';
import { refresh, replace } from '../catalogue/catalogue.ts';
import { client } from '../session/session.ts';
import {
  changesOf,
  isSame,
  isUnchanged,
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
 * - `conflict`: somebody else has changed the book since it was loaded, to what stands in `theirs`;
 * - `saved`: all is done; the dialog goes.
 */
export type EditingState =
  | { readonly is: 'loading' | 'editing' | 'saving' | 'missing' }
  | { readonly is: 'conflict'; readonly theirs: VersionedBook }
  | { readonly is: 'saved'; readonly book: Book };

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
      if (!this.base) return { is: 'missing' };
      this.typed.value = typedFieldsOf(this.base);
      return { is: 'editing' };
    });
  }

  /** Stores what is typed. What somebody else has changed meanwhile is not overwritten, but shown. */
  async save(): Promise<void> {
    const { base, typed } = this;
    const year = yearOf(typed.value);
    if (year === undefined) return;
    this.state.value = { is: 'saving' };
    await this.#attempt('editing', () =>
      base
        ? this.#update(base, changesOf(typed.value, base) ?? {})
        : this.#createBook({ title: typed.value.title, author: typed.value.author, year }),
    );
  }

  /** In a conflict: stores what is typed in place of what somebody else has made of the book. */
  async keepMine(): Promise<void> {
    if (this.state.value.is !== 'conflict') return;
    this.base = this.state.value.theirs;
    await this.save();
  }

  /** In a conflict: leaves the book as somebody else has made it. */
  takeTheirs(): void {
    if (this.state.value.is !== 'conflict') return;
    this.base = this.state.value.theirs;
    this.typed.value = typedFieldsOf(this.base);
    this.state.value = { is: 'saved', book: this.base };
    replace(this.base);
  }

  /** In a conflict: goes on with what is typed; the next save replaces what has been seen of the others' version. */
  editFurther(): void {
    if (this.state.value.is !== 'conflict') return;
    this.base = this.state.value.theirs;
    this.state.value = { is: 'editing' };
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
    return { is: 'saved', book };
  }

  async #update(base: VersionedBook, changes: Partial<BookFields>): Promise<EditingState> {
    const { id, etag = '*' } = base;
    try {
      const book = await client.update(id, changes, { ifMatch: etag });
      if (!book) return { is: 'missing' };
      replace(book);
      return { is: 'saved', book };
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 412)) throw error;
      const theirs = await client.find(id);
      if (!theirs) return { is: 'missing' };
      replace(theirs);
      // A change of our own whose answer was lost looks like somebody else's.
      if (isSame(theirs, { ...base, ...changes })) return { is: 'saved', book: theirs };
      return { is: 'conflict', theirs };
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

/** Pages that came without TLS have no `randomUUID`. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
