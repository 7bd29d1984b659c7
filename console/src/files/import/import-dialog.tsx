import { useEffect } from 'preact/hooks';
import { allTexts } from '../../language/texts.ts';
import { Dialog, StepHeading } from '../../page/dialog.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { chooseFile, chosenFile, closeFile, isImporting } from './chosen-file.ts';
import { FileChoice } from './file-choice.tsx';
import type { FileImport } from './file-import.ts';
import { ImportPlan } from './import-plan.tsx';
import { ImportProgress } from './import-progress.tsx';
import { ImportResult } from './import-result.tsx';

/** Imports a file: the user chooses it, reviews it, and starts the import. */
export function ImportDialog({ files }: { files: readonly File[] }) {
  useEffect(() => void chooseFile(files), [files]);
  useEffect(() => closeFile, []);
  const { value: file } = chosenFile;
  const isBusy = isImporting.value;
  const t = allTexts.value;
  return (
    <Dialog
      label={t.importBooks}
      class={`wide files ${isBusy ? '' : 'accepts-files'}`}
      onDismiss={isBusy ? undefined : closeFileDialog}
    >
      {file.kind === 'open' ? (
        <Step fileImport={file.fileImport} />
      ) : (
        <>
          <StepHeading text={t.importBooks} />
          <FileChoice file={file} />
        </>
      )}
    </Dialog>
  );
}

function Step({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: state } = fileImport.state;
  const Content = STEPS[state];
  return (
    <>
      <StepHeading
        key={Content}
        text={state === 'undoing' ? t.undoImport : t.importBooks}
        note={fileImport.file.file.name}
      />
      <Content fileImport={fileImport} />
    </>
  );
}

const STEPS = {
  ready: ImportPlan,
  sending: ImportProgress,
  stopping: ImportProgress,
  undoing: ImportProgress,
  ended: ImportResult,
};
