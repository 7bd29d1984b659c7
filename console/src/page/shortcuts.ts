import { useEffect } from 'preact/hooks';
import { undoLast } from '../book/deletions.ts';
import { show } from './address.ts';
import { areKeysShown } from './keys.tsx';

/** The keys of the whole page: `/` searches, `n` adds a book, Ctrl+Z undoes a deletion, `?` tells of them all. In fields they are text. */
export function useShortcuts(): void {
  useEffect(() => {
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, []);
}

function handleKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  const isTyped = target instanceof Element && target.closest('input, textarea, select') !== null;
  if (isTyped || altKey || document.querySelector('dialog[open]')) return;
  if (ctrlKey || metaKey) {
    if (key.toLowerCase() === 'z' && undoLast()) event.preventDefault();
    return;
  }
  if (key === 'n') show({ book: 'new' });
  else if (key === '/') document.getElementById('search')?.focus();
  else if (key === '?') areKeysShown.value = true;
  else return;
  event.preventDefault();
}
