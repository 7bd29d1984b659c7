import { texts } from '../../language/file-texts.ts';
import { formatNumber } from '../../language/language.ts';
import { DialogHeading } from '../dialog-heading.tsx';
import type { FileImport } from './file-import.ts';

/** How far an import has got. What changes all the time is not read out; what it waits for is. */
export function ImportProgress({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: total } = of.total;
  const { value: stored } = of.stored;
  const { value: pace } = of.pace;
  const { value: phase } = of.phase;
  const isStopping = of.state.value === 'stopping';
  const numbers = [
    t.progress(formatNumber(stored), formatNumber(total)),
    phase === 'sending' && pace && t.pace(formatNumber(Math.round(pace.perSecond))),
    phase === 'sending' && pace && t.left(Math.ceil(pace.secondsLeft)),
  ];
  return (
    <>
      <DialogHeading text={t.importBooks} note={of.file.file.name} />
      <div class="under-way">
        <progress value={stored} max={total} aria-label={t.importBooks} class={phase} />
        <p class="numbers">{numbers.filter((text) => text !== undefined && text !== false).join(' · ')}</p>
        <p class={phase === 'sending' ? 'quiet' : 'note'} role="status">
          {isStopping ? t.stopping : t.phases[phase]}
        </p>
      </div>
      <div class="buttons">
        <button type="button" class="button" aria-disabled={isStopping} onClick={() => of.stop()}>
          {t.stop}
        </button>
      </div>
    </>
  );
}

/** How far an undo has got. */
export function UndoProgress({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: total } = of.created;
  const done = total - of.left.value;
  return (
    <>
      <DialogHeading text={t.undo} note={of.file.file.name} />
      <div class="under-way">
        <progress value={done} max={total} aria-label={t.undo} />
        <p class="numbers">{t.progress(formatNumber(done), formatNumber(total))}</p>
        <p class="quiet" role="status">
          {t.undoing}
        </p>
      </div>
      <div class="buttons">
        <button type="button" class="button" onClick={() => of.stop()}>
          {t.stop}
        </button>
      </div>
    </>
  );
}
