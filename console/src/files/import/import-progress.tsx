import { fileTexts } from '../../language/file-texts.ts';
import { Button } from '../../page/button.tsx';
import { Progress, StepHeading } from '../dialog-step.tsx';
import type { FileImport } from './file-import.ts';

export function ImportProgress({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: total } = of.total;
  const { value: stored } = of.stored;
  const { value: phase } = of.phase;
  const pace = phase === 'sending' ? of.pace.value : undefined;
  const isStopping = of.state.value === 'stopping';
  const rate =
    pace && ` · ${t.rate(Math.round(pace.perSecond))} · ${t.timeLeft(Math.ceil(pace.secondsLeft))}`;
  return (
    <>
      <StepHeading text={t.importBooks} note={of.file.file.name} />
      <Progress
        label={t.importBooks}
        value={stored}
        max={total}
        numbers={t.progress(stored, total) + (rate ?? '')}
        status={isStopping ? t.stopping : t.phases[phase]}
        isProminent={phase !== 'sending'}
      />
      <div class="buttons">
        <Button text={t.stop} aria-disabled={isStopping} onClick={() => of.stop()} />
      </div>
    </>
  );
}

export function UndoProgress({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: total } = of.created;
  const done = total - of.left.value;
  return (
    <>
      <StepHeading text={t.undoImport} note={of.file.file.name} />
      <Progress
        label={t.undoImport}
        value={done}
        max={total}
        numbers={t.progress(done, total)}
        status={t.undoing}
      />
      <div class="buttons">
        <Button text={t.stop} onClick={() => of.stop()} />
      </div>
    </>
  );
}
