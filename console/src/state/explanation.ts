import { effect, signal } from '@preact/signals';
import type { BookList } from './book-list.ts';
import { request } from './found-books.ts';
import { queryOf, type ShownView, searchedWords } from './view.ts';

/** Each is searched by a request of its own. */
const EXPLAINED_WORDS_MAX = 8;

/** Why a search has no match. */
export interface Explanation {
  /** The words that no book has. */
  readonly missingWords: readonly string[];
  /** The number of books that match in other years. */
  readonly inOtherYears: number;
}

/** Explains a search without a match, until `close` is called. */
export class Explainer {
  readonly explanation = signal<Explanation | undefined>(undefined);
  readonly close: () => void;

  constructor(list: BookList, address: ShownView) {
    this.close = effect(() => {
      // While the next search is loaded, the explanation of the last one stays, so that buttons do not move.
      if (!list.isEmpty.value || list.isLoading.value) return undefined;
      const { q } = queryOf(address.view.value);
      return request(async (abort) => {
        const isMissing = async (word: string) =>
          (await list.firstPage({ q: word, limit: 1 }, abort)).books.length === 0;
        const words = [...new Set(searchedWords(q ?? ''))].slice(0, EXPLAINED_WORDS_MAX);
        const areMissing = await Promise.all(words.map(isMissing));
        const missingWords = words.filter((_, index) => areMissing[index]);
        const inOtherYears = missingWords.length > 0 ? 0 : ((await list.count({ q }, abort)) ?? 0);
        this.explanation.value = { missingWords, inOtherYears };
      });
    });
  }
}
