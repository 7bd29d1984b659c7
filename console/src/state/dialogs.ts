import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Address } from './address.ts';

/** The dialog that is open. That of a book is in the URL. */
export type OpenDialog =
  | { readonly kind: 'book'; readonly id: number | 'new' }
  | { readonly kind: 'import'; readonly files: readonly File[] }
  | { readonly kind: 'export'; readonly isSelection: boolean }
  | { readonly kind: 'field'; readonly field: 'author' | 'year' }
  | { readonly kind: 'duplicates' | 'history' | 'shortcuts' }
  /** A question whose answer is yes if the user chooses the button. */
  | {
      readonly kind: 'question';
      readonly text: string;
      readonly yes: string;
      /** What else to know. */
      readonly note: string | undefined;
      readonly answer: (isYes: boolean) => void;
    };

/** The dialogs of a read-only session. */
const READING: readonly OpenDialog['kind'][] = ['book', 'export', 'history', 'shortcuts'];

/** Says which dialog is open; at most one is. */
export class Dialogs {
  readonly open: ReadonlySignal<OpenDialog | undefined>;
  readonly #address: Address;
  readonly #other = signal<OpenDialog | undefined>(undefined);

  constructor(address: Address, isSignedIn: ReadonlySignal<boolean>, isReadOnly: ReadonlySignal<boolean>) {
    this.#address = address;
    const book = computed(() => {
      const { book: id } = address.view.value;
      return id === 'new' && isReadOnly.value ? undefined : id;
    });
    this.open = computed(() =>
      book.value === undefined ? this.#other.value : { kind: 'book', id: book.value },
    );
    effect(() => {
      const { value: other } = this.#other;
      const isRefused = other && isReadOnly.value && !READING.includes(other.kind);
      if (!isSignedIn.value || book.value !== undefined || isRefused) this.#other.value = undefined;
    });
  }

  show(dialog: OpenDialog): void {
    if (dialog.kind === 'book') this.#address.show({ book: dialog.id });
    else this.#other.value = dialog;
  }

  /** Asks a question. @param yes the button of the answer yes @param note what else to know */
  ask(text: string, yes: string, note?: string): Promise<boolean> {
    return new Promise((answer) => this.show({ kind: 'question', text, yes, note, answer }));
  }

  /** Closes the dialog without a question. */
  close(): void {
    if (this.open.value?.kind === 'book') this.#address.closeBook();
    else this.#other.value = undefined;
  }
}
