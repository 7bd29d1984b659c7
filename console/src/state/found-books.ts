import { effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { Book, BookClient } from 'bookkeeping-client/index.ts';
import type { BookList } from './book-list.ts';
import type { ShownView } from './view.ts';

/** What a search reports beside its matches. */
export class FoundBooks {
  /** The number of all books, also those that do not match; undefined while it is unknown. */
  readonly all = signal<number | undefined>(undefined);
  /** The book whose number is searched. */
  readonly numbered = signal<Book | undefined>(undefined);

  constructor(client: BookClient, list: BookList, address: ShownView, isSignedIn: ReadonlySignal<boolean>) {
    /** The {@link BookList.countRevision} of the number of all books. */
    let countedRevision = -1;
    effect(() => {
      if (!isSignedIn.value) this.all.value = undefined;
      if (!isSignedIn.value || list.isLoading.value) return undefined;
      const revision = list.countRevision.value;
      if (!address.isSearch.value) {
        if (list.total.value !== undefined) this.all.value = list.total.value;
        countedRevision = revision;
        return undefined;
      }
      if (this.all.peek() !== undefined && countedRevision === revision) return undefined;
      return request(async (abort) => {
        this.all.value = await list.count({}, abort);
        countedRevision = revision;
      });
    });
    effect(() => {
      const { q } = address.view.value;
      void list.countRevision.value;
      this.numbered.value = undefined;
      if (!isSignedIn.value || !/^\s*[0-9]{1,15}\s*$/.test(q)) return undefined;
      return request(async (abort) => {
        const book = await client.find(Number(q), { signal: abort });
        if (!abort.aborted) this.numbered.value = book;
      });
    });
  }
}

/** Does without the result if there is none: the list reports an error. @returns a function that cancels the work */
export function request(work: (abort: AbortSignal) => Promise<void>): () => void {
  const controller = new AbortController();
  untracked(() => work(controller.signal)).catch(() => {});
  return () => controller.abort();
}
