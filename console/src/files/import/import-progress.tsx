import { fileTexts } from '../../language/file-texts.ts';
import { Button } from '../../page/button.tsx';
import { Progress } from '../progress.tsx';
import type { FileImport } from './file-import.ts';

export function ImportProgress({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: state } = of.state;
  const { value: phase } = of.phase;
  const isUndo = state === 'undoing';
  const total = isUndo ? of.created.value : of.total.value;
  const done = isUndo ? total - of.left.value : of.stored.value;
  const pace = !isUndo && phase === 'sending' ? of.pace.value : undefined;
  const numbers = [
    t.progress(done, total),
    ...(pace ? [t.rate(Math.round(pace.perSecond)), t.timeLeft(Math.ceil(pace.secondsLeft))] : []),
  ];
  const status = state === 'stopping' ? t.stopping : t.phases[phase];
  return (
    <>
      <Progress
        label={isUndo ? t.undoImport : t.importBooks}
        value={done}
        max={total}
        numbers={numbers.join(' · ')}
        status={isUndo ? t.undoing : status}
        isProminent={!isUndo && phase !== 'sending'}
      />
      <div class="buttons">
        <Button text={t.stop} aria-disabled={state === 'stopping'} onClick={() => of.stop()} />
      </div>
    </>
  );
}
