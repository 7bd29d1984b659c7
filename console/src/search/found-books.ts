import { computed, effect, signal, untracked } from '@preact/signals';
import type { Book } from '../../../src/client/index.ts';
import { isHidden } from '../book/hidden-books.ts';
import { searchedWords } from '../book/matched-parts.ts';
import { countBooks, countRevision, firstPage, isEmpty, isLoading, total } from '../catalogue/catalogue.ts';
import { queryOf, view } from '../page/address.ts';
import { client, signInState } from '../session/session.ts';

/** Whether the view has not all books. */
export const isSearch = computed(() => {
  const { q, from, to } = view.value;
  return q.trim() !== '' || from !== undefined || to !== undefined;
});

/** The number of all books, also those that do not match; undefined while it is unknown. */
export const allBooks = signal<number | undefined>(undefined);

/** The book whose number is searched. */
export const numberedBook = signal<Book | undefined>(undefined);

/** Why a search has no match. */
export interface Explanation {
  /** The words that no book has. */
  readonly missingWords: readonly string[];
  /** The number of books that match in other years. */
  readonly inOtherYears: number;
}
export const explanation = signal<Explanation | undefined>(undefined);

/** The {@link countRevision} that {@link allBooks} is of. */
let countedRevision = -1;

effect(() => {
  if (signInState.value === 'out') allBooks.value = undefined;
  if (signInState.value !== 'in' || isLoading.value) return undefined;
  const revision = countRevision.value;
  if (!isSearch.value) {
    if (total.value !== undefined) allBooks.value = total.value;
    countedRevision = revision;
    return undefined;
  }
  if (allBooks.peek() !== undefined && countedRevision === revision) return undefined;
  return request(async (abort) => {
    allBooks.value = await countBooks({}, abort);
    countedRevision = revision;
  });
});

effect(() => {
  const { q } = view.value;
  void countRevision.value;
  numberedBook.value = undefined;
  if (signInState.value !== 'in' || !/^\s*[0-9]{1,15}\s*$/.test(q)) return undefined;
  return request(async (abort) => {
    const book = await client.find(Number(q), { signal: abort });
    if (book && !abort.aborted && !isHidden(book)) numberedBook.value = book;
  });
});

effect(() => {
  if (!isEmpty.value || !isSearch.value) explanation.value = undefined;
  // While the next search is loaded, the explanation of the last one stays, so that buttons do not move.
  if (!isEmpty.value || !isSearch.value || isLoading.value) return undefined;
  const query = queryOf(view.value);
  return request(async (abort) => {
    const isMissing = async (q: string) => (await firstPage({ q, limit: 1 }, abort)).books.length === 0;
    const words = searchedWords(query.q ?? '').slice(0, EXPLAINED_WORDS_MAX);
    const areMissing = await Promise.all(words.map(isMissing));
    const missingWords = words.filter((_, index) => areMissing[index]);
    const inOtherYears = missingWords.length > 0 ? 0 : ((await countBooks({ q: query.q }, abort)) ?? 0);
    explanation.value = { missingWords, inOtherYears };
  });
});

/** Each is searched by a request of its own. */
const EXPLAINED_WORDS_MAX = 8;

/** Does without the result if there is none: the list reports an error. @returns a function that cancels the work */
function request(work: (abort: AbortSignal) => Promise<void>): () => void {
  const controller = new AbortController();
  untracked(() => work(controller.signal)).catch(() => {});
  return () => controller.abort();
}
