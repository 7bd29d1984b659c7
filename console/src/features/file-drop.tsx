import { useSignal } from '@preact/signals';
import { texts } from '../language/texts.ts';
import { useListeners } from '../ui/use-listeners.ts';
import { useApp } from './use-app.ts';

/**
 * Opens the import for a file that is dropped on the page. While another dialog is open, and in a read-only session, the drop is
 * ignored; the browser would otherwise navigate to the file.
 */
export function FileDrop() {
  const { dialogs, session } = useApp();
  const isOver = useSignal(false);
  useListeners((signal) => {
    const listen = (type: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => void) =>
      addEventListener(type, handle, { signal });
    listen('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      isOver.value = canDrop() && !session.isReadOnly.value;
      event.dataTransfer.dropEffect = isOver.value ? 'copy' : 'none';
    });
    listen('dragleave', ({ relatedTarget }) => {
      if (!relatedTarget) isOver.value = false;
    });
    listen('drop', (event) => {
      isOver.value = false;
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      if (canDrop()) dialogs.show({ kind: 'import', files: [...event.dataTransfer.files] });
    });
  });
  if (!isOver.value) return null;
  return (
    <div class="drop-overlay" aria-hidden="true">
      <p class="lead">{texts.value.dropFile}</p>
    </div>
  );
}

/** Whether no dialog is open except an idle import. */
function canDrop(): boolean {
  return document.querySelector('dialog[open]:not(.accepts-files)') === null;
}
