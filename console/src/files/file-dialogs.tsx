import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language/texts.ts';
import { useModule } from '../page/use-module.ts';
import { closeFileDialog, openedDialog, openImport } from './opened-dialog.ts';

/** The dialogs of import and export, whose code is loaded when one is first opened. Files can be dropped on the page. */
export function FileDialogs() {
  const { value: opened } = openedDialog;
  const module = useModule(opened !== undefined, () => import('./dialogs.tsx'), closeFileDialog);
  const isOver = useFileDrop();

  // A sign-out closes them.
  useEffect(() => closeFileDialog, []);

  return (
    <>
      {isOver.value && (
        <div class="drop-overlay" aria-hidden="true">
          <p>{texts.value.dropFile}</p>
        </div>
      )}
      {module && opened?.kind === 'import' && <module.ImportDialog files={opened.files} />}
      {module && opened?.kind === 'duplicates' && <module.DuplicatesDialog />}
      {module && opened?.kind === 'export' && <module.ExportDialog isSelection={opened.isSelection} />}
    </>
  );
}

/**
 * Opens the import for a file that is dropped on the page. While another dialog is open, the drop is ignored; the browser
 * would otherwise navigate to the file.
 *
 * @returns whether a file is dragged over the page and can be dropped
 */
function useFileDrop(): Signal<boolean> {
  const isOver = useSignal(false);
  useEffect(() => {
    const controller = new AbortController();
    const listen = (type: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => void) =>
      addEventListener(type, handle, { signal: controller.signal });
    listen('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      isOver.value = canDrop();
      event.dataTransfer.dropEffect = isOver.value ? 'copy' : 'none';
    });
    listen('dragleave', ({ relatedTarget }) => {
      if (!relatedTarget) isOver.value = false;
    });
    listen('drop', (event) => {
      isOver.value = false;
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      if (canDrop()) openImport([...event.dataTransfer.files]);
    });
    return () => controller.abort();
  }, []);
  return isOver;
}

/** Whether no dialog is open except an idle import. */
function canDrop(): boolean {
  return document.querySelector('dialog[open]:not(.accepts-files)') === null;
}
