import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { Button } from '../../ui/button.tsx';
import { Progress } from '../../ui/progress.tsx';

export function ImportProgress({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: state } = fileImport.state;
  const { value: phase } = fileImport.phase;
  const { value: total } = fileImport.total;
  const { value: done } = fileImport.stored;
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
