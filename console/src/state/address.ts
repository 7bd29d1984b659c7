import { computed, signal } from '@preact/signals';
import { queryOf, readView, type ShownView, type View, writeView } from './view.ts';

interface EntryState {
  readonly isTyped: boolean;
  /** Whether opening a book added the entry. */
  readonly hasOpened: boolean;
}

/** The URL of the page. */
export class Address implements ShownView {
  readonly view = signal<View>(readView(location.search));
  readonly query = computed(() => JSON.stringify(queryOf(this.view.value)));
  readonly isSearch = computed(() => {
    const { q, from, to } = this.view.value;
    return q.trim() !== '' || from !== undefined || to !== undefined;
  });
  /** Asked before the back button closes the open book. */
  mayCloseBook = () => true;

  constructor() {
    addEventListener('popstate', () => {
      const { value: before } = this.view;
      if (before.book === undefined || this.mayCloseBook()) this.view.value = readView(location.search);
      else history.pushState({ isTyped: false, hasOpened: true }, '', writeView(before));
    });
  }

  /**
   * Changes the view.
   *
   * @param how `push` adds a history entry, `type` one for consecutive changes, `replace` none
   */
  show(changes: Partial<View>, how: 'push' | 'type' | 'replace' = 'push'): void {
    const next = { ...this.view.value, ...changes };
    const search = writeView(next);
    if (search === writeView(this.view.value)) return;
    const isTyped = how === 'type';
    const isReplaced = how === 'replace' || (isTyped && (history.state as EntryState | null)?.isTyped);
    const state: EntryState = { isTyped, hasOpened: 'book' in changes && changes.book !== undefined };
    history[isReplaced ? 'replaceState' : 'pushState'](state, '', search || location.pathname);
    this.view.value = next;
  }

  showNewest(): void {
    this.show({ q: '', from: undefined, to: undefined, sort: '-id' });
    scrollTo(0, 0);
  }

  /** Closes the dialog of a book: by going back, if opening it added a history entry. */
  closeBook(): void {
    this.mayCloseBook = () => true;
    if (!(history.state as EntryState | null)?.hasOpened) this.show({ book: undefined }, 'replace');
    // At once: going back takes time, in which another click would go back once more.
    else if (this.view.value.book !== undefined) {
      this.view.value = { ...this.view.value, book: undefined };
      history.back();
    }
  }
}
