import type { App } from '../state/app.ts';
import { focusBooks } from '../ui/dialog.tsx';
import { commandLetter, isOfInputMethod } from '../ui/keys.ts';
import { useListeners } from '../ui/use-listeners.ts';
import { later } from './later-code.ts';
import { useApp } from './use-app.ts';

/** Handles the keys of the page. None of them is a character alone, which assistive technologies may type (WCAG 2.1.4). */
export function useShortcuts(): void {
  const app = useApp();
  useListeners((signal) => {
    const handle = (event: KeyboardEvent) => {
      const popover = document.querySelector<HTMLElement>(':popover-open');
      // Its other keys are its own.
      if (popover && !event.ctrlKey && !event.metaKey && event.key !== 'Insert') return;
      if (!handleKey(app, event)) return;
      event.preventDefault();
      popover?.hidePopover();
    };
    addEventListener('keydown', handle, { signal });
  });
}

/** In fields, keys are text, except for the arrows, which move the focus from the search to the books. @returns whether it did something */
function handleKey(app: App, event: KeyboardEvent): boolean {
  const { dialogs, selection, cursor, operations, session } = app;
  const { target, key, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (isOfInputMethod(event)) return false;
  if (!(target instanceof Element) || altKey || document.querySelector('dialog[open]')) return false;
  const isCommand = ctrlKey || metaKey;
  const letter = commandLetter(event);
  if (isCommand && letter === 'k') (document.getElementById('search') as HTMLInputElement).select();
  else if (isCommand && letter === 'p' && !shiftKey && later.value) void later.value.printBooks(app);
  else if (isCommand && key === '/') dialogs.show({ kind: 'shortcuts' });
  else if (key === 'Insert' && !isCommand && !shiftKey) dialogs.show({ kind: 'book', id: 'new' });
  else if ((key === 'ArrowDown' || key === 'ArrowUp') && isBesideTable(target)) focusBooks();
  else if (target.closest('input:not([type=checkbox]), textarea, select')) return false;
  else if (key === 'Escape' && cursor.range.value) cursor.endRange();
  else if (key === 'Escape') selection.clear();
  else if (!isCommand) return false;
  else if (letter === 'a') selection.all();
  else if (session.isReadOnly.value) return false;
  else if (letter === 'y' || (shiftKey && letter === 'z')) void operations.redo();
  else if (letter === 'z') void operations.undo();
  else return false;
  return true;
}

function isBesideTable(target: Element): boolean {
  return target === document.body || (target.closest('search') !== null && !target.closest('select'));
}
