import { computed, effect, signal, untracked } from '@preact/signals';
import { Address } from './address.ts';
import { BookList } from './book-list.ts';
import { CellEdits } from './cell-edits.ts';
import { Connection } from './connection.ts';
import { Cursor } from './cursor.ts';
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
  readonly onceClient = this.session.onceClient;
  readonly connection = new Connection(document.baseURI);
  readonly isSignedIn = computed(() => this.session.state.value !== 'out');
  readonly list = new BookList(this, this.address, this.isSignedIn, keptRow(this.address));
  readonly selection = new Selection(this.list, this.address, this.isSignedIn);
  readonly found = new FoundBooks(this.client, this.list, this.address, this.isSignedIn);
  readonly history = new History();
  readonly operations = new Operations(this);
  readonly cells = new CellEdits(this);
  readonly cursor = new Cursor();
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
    () => this.cells.open.value?.session.isUnchanged === false,
  ]);

  constructor() {
    document.addEventListener('visibilitychange', () => (this.isVisible.value = !document.hidden));
    addEventListener('online', () => this.connection.ask());
    effect(() => {
      if (!this.isSignedIn.value) untracked(() => this.cells.clear());
    });
    addEventListener('pagehide', () => keepRow(this.address, this.list));
    addEventListener('beforeunload', (event) => {
      if ([...this.unsaved].some((isUnsaved) => isUnsaved())) event.preventDefault();
    });
  }
}

/** The key in the session storage of the first row in view when the page was left. */
const KEPT_ROW = 'row';

function keepRow({ query }: Address, { inView }: BookList): void {
  sessionStorage.setItem(KEPT_ROW, JSON.stringify({ query: query.value, row: inView.value.first }));
}

/** The first row in view before the page was reloaded, or 0. */
function keptRow({ query }: Address): number {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const kept = JSON.parse(sessionStorage.getItem(KEPT_ROW) ?? '{}') as { query?: string; row?: number };
  return navigation?.type === 'reload' && kept.query === query.value ? (kept.row ?? 0) : 0;
}
