import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../state/found-books.ts';
import { useApp } from './use-app.ts';

const DEBOUNCE_MS = 150;
const LENGTH_MIN = 2;
/** The books whose authors are read. */
const BOOKS = 200;
const SUGGESTIONS_MAX = 8;

/** Whether a text can be edited on one line, as suggestions need it. */
export function hasSuggestions(text: string): boolean {
  return !/[\r\n]/.test(text);
}

/** The authors of the service that contain a text, as suggestions of the input with the attribute `list`. */
export function AuthorSuggestions({ id, text }: { readonly id: string; readonly text: string }) {
  const { list } = useApp();
  const authors = useSignal<readonly string[]>([]);
  useEffect(() => {
    if (text.trim().length < LENGTH_MIN) return undefined;
    let cancel = () => {};
    const timer = setTimeout(() => {
      cancel = request(async (abort) => {
        const { books } = await list.firstPage({ author: text.trim(), sort: 'author', limit: BOOKS }, abort);
        const found = [...new Set(books.map(({ author }) => author))];
        authors.value = found.filter((author) => author !== text).slice(0, SUGGESTIONS_MAX);
      });
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [text]);
  return (
    <datalist id={id}>
      {authors.value.map((author) => (
        <option key={author} value={author} />
      ))}
    </datalist>
  );
}
