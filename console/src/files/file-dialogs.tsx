import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language/texts.ts';
import { showBriefly } from '../page/toasts.tsx';
import { closeFileDialog, openedDialog, openImport } from './opened-dialog.ts';

/** The dialogs of import and export, whose code is loaded when one is first opened, and the target of dropped files. */
export function FileDialogs() {
  const dialogs = useSignal<typeof import('./dialogs.tsx') | undefined>(undefined);
  const isOver = useFileDrop();

  useSignalEffect(() => {
    if (openedDialog.value && !dialogs.value) void load();
  });

  async function load(): Promise<void> {
    try {
      dialogs.value = await import('./dialogs.tsx');
    } catch {
      closeFileDialog();
      showBriefly({ text: () => texts.value.signInFaults.away, isFault: true });
    }
  }

  // Signing out closes them.
  useEffect(() => closeFileDialog, []);

  const { value: opened } = openedDialog;
  const { value: module } = dialogs;
  return (
    <>
      {isOver.value && (
        <div class="drop-sign" aria-hidden="true">
          <p>{texts.value.dropFile}</p>
        </div>
      )}
      {module && opened?.kind === 'import' && <module.ImportDialog files={opened.files} />}
      {module && opened?.kind === 'export' && <module.ExportDialog />}
    </>
  );
}

/**
 * Opens the import for a file that is dropped anywhere on the page. Where no import can begin, the drop is ignored; the
 * browser would otherwise open the file in place of the page.
 *
 * @returns whether a file that can be dropped is being dragged over the page
 */
function useFileDrop(): Signal<boolean> {
  const isOver = useSignal(false);
  useEffect(() => {
    const abortion = new AbortController();
    const listen = (type: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => void) =>
      addEventListener(type, handle, { signal: abortion.signal });
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
    return () => abortion.abort();
  }, []);
  return isOver;
}

/** Whether no dialog is open but an idle import. */
function canDrop(): boolean {
  return document.querySelector('dialog[open]:not(.takes-files)') === null;
}
