import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language/language.ts';
import { tellForAWhile } from '../page/toasts.tsx';
import { closeFiles, opened } from './opened-dialog.ts';
import { useFileDrop } from './use-file-drop.ts';

/** The dialogs for files, whose code comes when one is opened for the first time, and what is seen while a file is dragged. */
export function FileDialogs() {
  const dialogs = useSignal<typeof import('./dialogs.tsx') | undefined>(undefined);
  const isOver = useFileDrop();

  useSignalEffect(() => {
    if (opened.value && !dialogs.value) void load();
  });

  async function load(): Promise<void> {
    try {
      dialogs.value = await import('./dialogs.tsx');
    } catch {
      closeFiles();
      tellForAWhile({ text: () => texts.value.faults.away, isFault: true });
    }
  }

  // Whoever signs out leaves them behind.
  useEffect(() => closeFiles, []);

  const { value: what } = opened;
  const { value: module } = dialogs;
  return (
    <>
      {isOver.value && (
        <div class="drop-sign" aria-hidden="true">
          <p>{texts.value.dropFile}</p>
        </div>
      )}
      {what &&
        module &&
        (what.kind === 'import' ? <module.ImportDialog files={what.files} /> : <module.ExportDialog />)}
    </>
  );
}
