import { type Signal, useSignal } from '@preact/signals';
import type { Field } from 'bookkeeping-formats/row.ts';
import type { InputHTMLAttributes, RefObject, TargetedInputEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FormFields } from '../state/fields.ts';
import { request } from '../state/found-books.ts';
import { useApp } from './use-app.ts';

const DEBOUNCE_MS = 150;
const LENGTH_MIN = 2;
/** The books whose authors are read. */
const BOOKS = 200;
const SUGGESTIONS_MAX = 8;

interface BookInputProps {
  readonly name: Field;
  readonly draft: Signal<FormFields>;
  readonly attributes: Pick<
    InputHTMLAttributes<HTMLInputElement & HTMLTextAreaElement>,
    | 'id'
    | 'class'
    | 'readOnly'
    | 'aria-label'
    | 'aria-invalid'
    | 'aria-describedby'
    | 'onKeyDown'
    | 'onPointerDown'
    | 'onBlur'
  > & { readonly ref?: RefObject<(HTMLInputElement & HTMLTextAreaElement) | null> };
}

/** The input of a field. Titles may have several lines, and so may authors that have line breaks already; other authors are suggested. */
export function BookInput({ name, draft, attributes }: BookInputProps) {
  const text = draft.value[name];
  const hasLines = useRef(name === 'title' || (name === 'author' && /[\r\n]/.test(text))).current;
  const isSuggested = name === 'author' && !hasLines;
  const props = {
    name,
    dir: 'auto',
    autocomplete: 'off',
    value: text,
    onInput({ currentTarget }: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) {
      draft.value = { ...draft.value, [name]: currentTarget.value };
    },
    ...attributes,
  } as const;
  if (hasLines) return <textarea {...props} rows={1} />;
  return (
    <>
      <input {...props} list={isSuggested ? 'authors' : undefined} />
      {isSuggested && <AuthorSuggestions text={text} />}
    </>
  );
}

/** The authors of the service that contain a text. */
function AuthorSuggestions({ text }: { readonly text: string }) {
  const { list, session } = useApp();
  const authors = useSignal<readonly string[]>([]);
  useEffect(() => {
    if (text.trim().length < LENGTH_MIN || session.isReadOnly.value) return undefined;
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
    <datalist id="authors">
      {authors.value.map((author) => (
        <option key={author} value={author} />
      ))}
    </datalist>
  );
}
