import { formatNumber } from '../language/language.ts';
import { BadRows } from './bad-rows.tsx';
import { leaveFile } from './choosing.ts';
import { DialogHeading } from './dialog-heading.tsx';
import type { FileImport } from './file-import.ts';
import { MappingForm } from './mapping-form.tsx';
import { closeFiles } from './opened.ts';
import { Preview } from './preview.tsx';
import { texts } from './texts.ts';

/** What an import would do, before anything is stored. */
export function ImportPlan({ of }: { of: FileImport }) {
  const t = texts.value;
  const { value: check } = of.check;
  const good = check?.good ?? 0;
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
          aria-disabled={good === 0}
          onClick={() => good > 0 && void of.start()}
        >
          {t.start(good, formatNumber(good))}
        </button>
      </div>
    </>
  );
}
