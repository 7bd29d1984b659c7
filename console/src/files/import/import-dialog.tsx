import { useEffect } from 'preact/hooks';
import { fileTexts } from '../../language/file-texts.ts';
import { Dialog } from '../../page/dialog.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { chooseFile, chosenFile, closeFile } from './chosen-file.ts';
import { FileChoice } from './file-choice.tsx';
import { ImportPlan } from './import-plan.tsx';
import { ImportProgress, UndoProgress } from './import-progress.tsx';
import { ImportResult } from './import-result.tsx';

/** Imports a file: the user chooses it, reviews it, and starts the import. */
export function ImportDialog({ files }: { files: readonly File[] }) {
  useEffect(() => void chooseFile(files), [files]);
  useEffect(() => closeFile, []);
  const { value: file } = chosenFile;
  const isBusy = file.kind === 'open' && file.fileImport.isBusy.value;
  useEffect(() => {
    if (!isBusy) return undefined;
    // Has the browser ask before the page is left.
    const handle = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', handle);
    return () => removeEventListener('beforeunload', handle);
  }, [isBusy]);
  const Step = file.kind === 'open' ? STEPS[file.fileImport.state.value] : undefined;
  return (
    <Dialog
      label={fileTexts.value.importBooks}
      class={`wide files ${isBusy ? '' : 'takes-files'}`}
      onDismiss={isBusy ? undefined : closeFileDialog}
    >
      {file.kind === 'open' ? Step && <Step of={file.fileImport} /> : <FileChoice file={file} />}
    </Dialog>
  );
}

const STEPS = {
  ready: ImportPlan,
  sending: ImportProgress,
  stopping: ImportProgress,
  undoing: UndoProgress,
  ended: ImportResult,
};
