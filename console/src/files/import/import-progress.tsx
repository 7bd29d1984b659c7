import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { Button } from '../../page/button.tsx';
import { Progress } from '../progress.tsx';
import type { FileImport } from './file-import.ts';

export function ImportProgress({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: state } = fileImport.state;
  const { value: phase } = fileImport.phase;
  const isUndo = state === 'undoing';
  const total = isUndo ? fileImport.created.value : fileImport.total.value;
  const done = isUndo ? total - fileImport.left.value : fileImport.stored.value;
  const pace = !isUndo && phase === 'sending' ? fileImport.pace.value : undefined;
  const numbers = [
    formatMessage(t.progress, { done, total }),
    ...(pace
      ? [
          formatMessage(t.rate, { perSecond: Math.round(pace.perSecond) }),
          timeLeft(Math.ceil(pace.secondsLeft)),
        ]
      : []),
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
        <Button text={t.stop} aria-disabled={state === 'stopping'} onClick={() => fileImport.stop()} />
      </div>
    </>
  );
}

function timeLeft(seconds: number): string {
  const t = allTexts.value;
  return seconds < 60
    ? formatMessage(t.secondsLeft, { seconds })
    : formatMessage(t.minutesLeft, { minutes: Math.ceil(seconds / 60) });
}
