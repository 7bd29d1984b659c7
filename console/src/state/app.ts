import { computed, signal } from '@preact/signals';
import { Address } from './address.ts';
import { BookList } from './book-list.ts';
import { CellEdits } from './cell-edits.ts';
import { Dialogs } from './dialogs.ts';
import { FoundBooks } from './found-books.ts';
import { History } from './history.ts';
import { Operations } from './operations.ts';
import { mediaMatches, Preferences } from './preferences.ts';
import { Selection } from './selection.ts';
import { UserSession } from './session.ts';
import { Toasts } from './toasts.ts';

/** The state of the console. Its effects start when it is made. */
export class App {
  readonly preferences = new Preferences();
  readonly toasts = new Toasts();
  readonly address = new Address();
  /** The API is at the parent path of the console, also behind a proxy with a path prefix. */
  readonly session = new UserSession(new URL('../', document.baseURI));
  readonly client = this.session.client;
  readonly isSignedIn = computed(() => this.session.state.value !== 'out');
  readonly list = new BookList(this.session, this.address, this.isSignedIn);
  readonly selection = new Selection(this.list, this.address, this.isSignedIn);
  readonly found = new FoundBooks(this.client, this.list, this.address, this.isSignedIn);
  readonly history = new History();
  readonly operations = new Operations(this);
  readonly cells = new CellEdits(this);
  readonly dialogs = new Dialogs(this.address, this.isSignedIn, this.session.isReadOnly);
  /** The width below which the style sheets use one column. */
  readonly isNarrow = mediaMatches('(width < 40rem)');
  /** Whether there is no keyboard to edit cells, so that a tap on a row opens its book. */
  readonly isTouched = mediaMatches('(pointer: coarse)');
  readonly isVisible = signal(!document.hidden);
  /** Says why leaving the page loses something; each may. */
  readonly unsaved = new Set<() => boolean>([
    () => this.operations.pending.value > 0,
    () => this.cells.failed.value.length > 0,
  ]);

  constructor() {
    document.addEventListener('visibilitychange', () => (this.isVisible.value = !document.hidden));
    addEventListener('beforeunload', (event) => {
      if ([...this.unsaved].some((isUnsaved) => isUnsaved())) event.preventDefault();
    });
  }
}
