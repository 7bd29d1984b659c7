import { explain } from '../../language/explain.ts';
import { texts } from '../../language/file-texts.ts';
import { formatNumber, texts as pageTexts } from '../../language/language.ts';
import { DialogHeading } from '../dialog-heading.tsx';
import { closeFiles } from '../opened-dialog.ts';
import { BadRows } from './bad-rows.tsx';
import { leaveFile } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';
import { MappingForm } from './mapping-form.tsx';
import { Preview } from './preview.tsx';

/** What an import would do, before anything is stored. */
export function ImportPlan({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: check } = of.check;
  const good = check?.good ?? 0;
  const { value: total } = of.total;
  const canStart = of.isPlanned.value && total > 0;
  return (
    <>
      <DialogHeading text={t.importBooks} note={of.file.file.name} />
      {of.file.encoding === 'windows-1252' && <p class="note">{t.western}</p>}
      <MappingForm of={of} />
      <Preview of={of} />
      <div class="verdict">
        <p role="status">
          {check ? (
            <>
              <strong>{good > 0 ? t.allGood(good, formatNumber(good)) : t.nothingGood}</strong>{' '}
              {check.bad > 0 && t.badRows(check.bad, formatNumber(check.bad))}
            </>
          ) : (
            t.checking
          )}
        </p>
        {!check && <progress value={of.checkedPart.value} aria-label={t.checking} />}
        {check && check.bad > 0 && <BadRows of={of} check={check} />}
        {good > 0 && <KnownChoice of={of} />}
      </div>
      <div class="buttons">
        <button type="button" class="link first" onClick={leaveFile}>
          {t.chooseAnother}
        </button>
        <button type="button" class="button" onClick={closeFiles}>
          {t.cancel}
        </button>
        <button
          type="button"
          class="button primary"
          aria-disabled={!canStart}
          onClick={() => canStart && void of.start()}
        >
          {t.start(total, formatNumber(total))}
        </button>
      </div>
    </>
  );
}

/** Whether books that are there already are left out, and how many these are. */
function KnownChoice({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: fault } = of.fault;
  const { value: known } = of.known;
  const { value: skips } = of.skipsKnown;
  return (
    <div class="known-choice">
      <label class="header-choice">
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
            ? t.notLooked(explain(fault))
            : known
              ? known.total > 0 && t.known(known.total, formatNumber(known.total))
              : t.looking)}
      </p>
      {skips && fault && (
        <button type="button" class="link" onClick={() => of.skipKnown(true)}>
          {pageTexts.value.tryAgain}
        </button>
      )}
    </div>
  );
}
