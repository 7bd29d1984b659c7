import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { openGoTo } from '../go-to/go-to.tsx';
import { clearSelection, selectAll } from '../selection/selection.ts';
import { show } from './address.ts';
import { focusBooks } from './dialog.tsx';
import { undoLast } from './toasts.tsx';
import { useModule } from './use-module.ts';

const isHelpOpen = signal(false);

export function openShortcutHelp(): void {
  isHelpOpen.value = true;
}

function closeHelp(): void {
  isHelpOpen.value = false;
}

/** Handles the shortcuts of the page, and lists them in a dialog, whose code is loaded when it is first opened. */
export function Shortcuts() {
  useEffect(() => {
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, []);
  const isOpen = isHelpOpen.value;
  const module = useModule(isOpen, () => import('./shortcut-help.tsx'), closeHelp);
  return module && isOpen && <module.ShortcutHelp onClose={closeHelp} />;
}

/** In fields, keys are text, except for the arrows, which move the focus from the search to the books. */
function handleKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (!(target instanceof Element) || altKey || document.querySelector('dialog[open]')) return;
  const isOutsideTable = target === document.body || target.closest('search') !== null;
  if (isOutsideTable && (key === 'ArrowDown' || key === 'ArrowUp')) {
    focusBooks();
    event.preventDefault();
    return;
  }
  if (target.closest('input:not([type=checkbox]), textarea, select')) return;
  if (ctrlKey || metaKey) {
    if (key.toLowerCase() === 'a') selectAll();
    else if (key.toLowerCase() !== 'z' || !undoLast()) return;
    event.preventDefault();
    return;
  }
  if (key === 'n') show({ book: 'new' });
  else if (key === 'g') openGoTo();
  else if (key === '/') document.getElementById('search')?.focus();
  else if (key === '?') openShortcutHelp();
  else if (key === 'Escape') clearSelection();
  else return;
  event.preventDefault();
}
