import { fileTexts } from '../../language/file-texts.ts';
import { explain } from '../../language/texts.ts';
import { Button, LinkButton } from '../../page/button.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { BadRows } from './bad-rows.tsx';
import { closeFile } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';
import { MappingForm } from './mapping-form.tsx';
import { Preview } from './preview.tsx';

/** What an import will do, before anything is stored. */
export function ImportPlan({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: check } = of.check;
  const { value: canStart } = of.canStart;
  return (
    <>
      {of.file.encoding === 'windows-1252' && <p class="note">{t.western}</p>}
      <MappingForm of={of} />
      <Preview of={of} />
      <div class="summary">
        <p role="status">
          {check ? (
            <>
              <strong>{check.good > 0 ? t.allGood(check.good) : t.nothingGood}</strong>{' '}
              {check.bad > 0 && t.badRows(check.bad)}
            </>
          ) : (
            t.checking
          )}
        </p>
        {!check && <progress value={of.checkedPart.value} aria-label={t.checking} />}
        <BadRows of={of} />
        {check && check.good > 0 && <KnownChoice of={of} />}
      </div>
      <div class="buttons">
        <LinkButton text={t.chooseAnother} is="first" onClick={closeFile} />
        <Button text={t.cancel} onClick={closeFileDialog} />
        <Button
          text={t.start(of.total.value)}
          is="primary"
          aria-disabled={!canStart}
          onClick={() => canStart && void of.start()}
        />
      </div>
    </>
  );
}

/** Whether known books are left out, and how many these are. */
function KnownChoice({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  const { value: fault } = of.fault;
  const { value: known } = of.known;
  const { value: skips } = of.skipsKnown;
  return (
    <div>
      <label class="checkbox">
        <input
          type="checkbox"
          checked={skips}
          onChange={({ currentTarget }) => of.skipKnown(currentTarget.checked)}
        />
        <span>{t.skipKnown}</span>
      </label>
      <p role="status" class={fault ? 'fault' : 'quiet'}>
        {skips &&
          (fault
            ? t.notSearched(explain(fault))
            : known
              ? known.total > 0 && t.known(known.total)
              : t.searchingKnown)}
      </p>
      {skips && fault && <LinkButton text={t.tryAgain} onClick={() => of.skipKnown(true)} />}
    </div>
  );
}
