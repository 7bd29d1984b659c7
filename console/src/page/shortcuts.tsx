import { useEffect } from 'preact/hooks';
import { show } from './address.ts';
import { areKeysShown } from './keys.tsx';
import { undoLast } from './toasts.tsx';

/**
 * The keys of the whole page: `/` searches, `n` adds a book, Ctrl+Z undoes, `?` shows all keys. In fields they are text.
 * The arrows lead to the books, from the search as well.
 */
export function useShortcuts(): void {
  useEffect(() => {
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, []);
}

function handleKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (!(target instanceof Element) || altKey || document.querySelector('dialog[open]')) return;
  const isFromNowhere = target === document.body || target.closest('search') !== null;
  if (isFromNowhere && (key === 'ArrowDown' || key === 'ArrowUp')) {
    document.querySelector<HTMLElement>('#books [tabindex="0"]')?.focus();
    event.preventDefault();
    return;
  }
  if (target.closest('input, textarea, select')) return;
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
