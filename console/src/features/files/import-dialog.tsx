import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { type ChosenFile, FileChoice } from '../../state/files/file-choice.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, StepHeading } from '../../ui/dialog.tsx';
import { Progress } from '../../ui/progress.tsx';
import { useApp } from '../use-app.ts';
import { ImportPlan, type ImportStepProps } from './import-plan.tsx';
import { ImportResult } from './import-result.tsx';

/** The file types that the browser's dialog shows. */
const ACCEPTED = '.csv,.tsv,.txt,.json,text/csv,application/json';

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

interface ChooseFileProps {
  readonly choice: FileChoice;
  readonly file: Exclude<ChosenFile, { kind: 'open' }>;
}

function ChooseFile({ choice, file }: ChooseFileProps) {
  const { dialogs } = useApp();
  const t = allTexts.value;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <div class="drop-zone step" aria-busy={file.kind === 'opening'}>
        <p class="lead">
          {file.kind === 'opening' ? formatMessage(t.reading, { name: file.name }) : t.dropHint}
        </p>
        <p class="quiet">{t.acceptedFormats}</p>
        <Button text={t.chooseFile} variant="primary" onClick={() => input.current?.click()} />
        <input
          ref={input}
          type="file"
          accept={ACCEPTED}
          hidden
          onChange={({ currentTarget }) => void choice.choose([...(currentTarget.files ?? [])])}
        />
      </div>
      <p class="error" role="alert">
        {file.kind === 'none' &&
          file.problem &&
          formatMessage(t.problems[file.problem], { format: file.format ?? '' })}
      </p>
      <div class="buttons">
        <Button text={t.cancel} onClick={() => dialogs.close()} />
      </div>
    </>
  );
}

function ImportProgress({ fileImport }: { fileImport: FileImport }) {
  const { operations, connection } = useApp();
  const t = allTexts.value;
  const { value: state } = fileImport.state;
  const isWaiting = connection.obstacle.value !== undefined || fileImport.phase.value === 'waiting';
  const phase = isWaiting ? 'waiting' : 'sending';
  const { value: total } = fileImport.total;
  const isUpdate = fileImport.update.value !== undefined;
  const done = isUpdate ? (operations.progress.value?.done ?? 0) : fileImport.stored.value;
  const status = state === 'stopping' ? t.stopping : t.phases[phase];
  return (
    <>
      <Progress
        label={t.importBooks}
        value={done}
        max={total}
        numbers={formatMessage(t.progress, { done, total })}
        status={status}
        isProminent={phase !== 'sending'}
      />
      <div class="buttons">
        <Button text={t.stop} aria-disabled={state === 'stopping'} onClick={() => fileImport.stop()} />
      </div>
    </>
  );
}
