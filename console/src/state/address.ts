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
  /** What to do with the entries when the browser has gone back from a closed book, which takes it some time; undefined at other times. */
  #later: (() => void)[] | undefined;

  constructor() {
    addEventListener('popstate', () => {
      const { value: before } = this.view;
      const waiting = this.#later ?? [];
      this.#later = undefined;
      for (const write of waiting) this.#write(write);
      // What was shown meanwhile stays.
      if (waiting.length > 0) return;
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
    const state: EntryState = { isTyped, hasOpened: 'book' in changes && changes.book !== undefined };
    this.#write(() => {
      const isReplaced = how === 'replace' || (isTyped && (history.state as EntryState | null)?.isTyped);
      history[isReplaced ? 'replaceState' : 'pushState'](state, '', search || location.pathname);
    });
    this.view.value = next;
  }

  #write(write: () => void): void {
    if (this.#later) this.#later.push(write);
    else write();
  }

  showNewest(): void {
    this.show({ q: '', from: undefined, to: undefined, sort: '-id' });
    scrollTo(0, 0);
  }

  /** Closes the dialog of a book: by going back, if opening it added a history entry. */
  closeBook(): void {
    this.mayCloseBook = () => true;
    if (this.view.value.book === undefined) return;
    const closed = { ...this.view.value, book: undefined };
    const search = writeView(closed) || location.pathname;
    this.#write(() => {
      if ((history.state as EntryState | null)?.hasOpened) {
        this.#later = [];
        history.back();
      } else history.replaceState({ isTyped: false, hasOpened: false }, '', search);
    });
    // At once: going back takes time, in which another click would go back once more.
    this.view.value = closed;
  }
}
