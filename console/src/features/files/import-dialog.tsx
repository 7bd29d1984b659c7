import { useEffect, useMemo } from 'preact/hooks';
import { allTexts } from '../../language/texts.ts';
import { FileChoice } from '../../state/files/file-choice.ts';
import { Dialog, StepHeading } from '../../ui/dialog.tsx';
import { useApp } from '../use-app.ts';
import { ChooseFile, type ImportStepProps } from './choose-file.tsx';
import { ImportPlan } from './import-plan.tsx';
import { ImportProgress } from './import-progress.tsx';
import { ImportResult } from './import-result.tsx';

/** Imports a file: the user chooses it, reviews it, and starts the import. */
export function ImportDialog({ files }: { files: readonly File[] }) {
  const app = useApp();
  const choice = useMemo(() => new FileChoice(app), []);
  useEffect(() => void choice.choose(files), [files]);
  useEffect(() => {
    const isUnsaved = () => isImporting(choice);
    app.unsaved.add(isUnsaved);
    return () => {
      app.unsaved.delete(isUnsaved);
      choice.close();
    };
  }, []);
  const { value: file } = choice.chosen;
  const isBusy = isImporting(choice);
  const t = allTexts.value;
  return (
    <Dialog
      label={t.importBooks}
      class={isBusy ? 'wide' : 'wide accepts-files'}
      onDismiss={isBusy ? undefined : () => app.dialogs.close()}
    >
      {file.kind === 'open' ? (
        <Step choice={choice} fileImport={file.fileImport} />
      ) : (
        <>
          <StepHeading text={t.importBooks} />
          <ChooseFile choice={choice} file={file} />
        </>
      )}
    </Dialog>
  );
}

function isImporting({ chosen }: FileChoice): boolean {
  return chosen.value.kind === 'open' && chosen.value.fileImport.isBusy;
}

function Step({ choice, fileImport }: ImportStepProps) {
  const t = allTexts.value;
  const { value: state } = fileImport.state;
  const Content = STEPS[state];
  return (
    <>
      <StepHeading key={Content} text={t.importBooks} note={fileImport.file.file.name} />
      <Content choice={choice} fileImport={fileImport} />
    </>
  );
}

const STEPS = {
  ready: ImportPlan,
  sending: ImportProgress,
  stopping: ImportProgress,
  ended: ImportResult,
};
