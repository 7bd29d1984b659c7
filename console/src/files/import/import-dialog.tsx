import { useEffect } from 'preact/hooks';
import { texts } from '../../language/file-texts.ts';
import { Dialog } from '../../page/dialog.tsx';
import { closeFiles } from '../opened-dialog.ts';
import { choice, chooseFile, leaveFile } from './chosen-file.ts';
import { FileChoice } from './file-choice.tsx';
import { ImportPlan } from './import-plan.tsx';
import { ImportProgress, UndoProgress } from './import-progress.tsx';
import { ImportEnding } from './import-result.tsx';

/** Imports a file: chosen, looked at, stored. */
export function ImportDialog({ files }: { files: readonly File[] }) {
  useEffect(() => void chooseFile(files), [files]);
  useEffect(() => leaveFile, []);
  const { value: current } = choice;
  const state = current.kind === 'chosen' ? current.fileImport.state.value : undefined;
  const isSending = state === 'sending' || state === 'stopping';
  return (
    <Dialog
      label={texts.value.importBooks}
      class="wide files"
      onDismiss={isSending || state === 'undoing' ? undefined : closeFiles}
    >
      {current.kind !== 'chosen' && <FileChoice choice={current} />}
      {current.kind === 'chosen' && state === 'ready' && <ImportPlan of={current.fileImport} />}
      {current.kind === 'chosen' && isSending && <ImportProgress of={current.fileImport} />}
      {current.kind === 'chosen' && state === 'undoing' && <UndoProgress of={current.fileImport} />}
      {current.kind === 'chosen' && state === 'ended' && <ImportEnding of={current.fileImport} />}
    </Dialog>
  );
}
