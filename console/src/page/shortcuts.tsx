import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language/texts.ts';
import { clearSelection, selectAll } from '../selection/selection.ts';
import { show } from './address.ts';
import { Button } from './button.tsx';
import { Dialog, focusBooks } from './dialog.tsx';
import { undoLast } from './toasts.tsx';

const isHelpOpen = signal(false);

export function openShortcutHelp(): void {
  isHelpOpen.value = true;
}

function closeHelp(): void {
  isHelpOpen.value = false;
}

/** Handles the shortcuts of the page, and lists them in a dialog. */
export function Shortcuts() {
  useEffect(() => {
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  }, []);
  const t = texts.value;
  if (!isHelpOpen.value) return null;
  return (
    <Dialog label={t.shortcuts} onDismiss={closeHelp}>
      <h2>{t.shortcuts}</h2>
      <dl class="keys">
        {Object.entries(t.shortcutList).map(([key, meaning]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <Button text={t.close} onClick={closeHelp} />
      </div>
    </Dialog>
  );
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
  else if (key === '/') document.getElementById('search')?.focus();
  else if (key === '?') openShortcutHelp();
  else if (key === 'Escape') clearSelection();
  else return;
  event.preventDefault();
}
