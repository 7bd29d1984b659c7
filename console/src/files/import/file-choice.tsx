import { useRef } from 'preact/hooks';
import { texts } from '../../language/file-texts.ts';
import { formatNumber, texts as pageTexts } from '../../language/language.ts';
import { DialogHeading } from '../dialog-heading.tsx';
import { closeFiles } from '../opened-dialog.ts';
import { type Choice, chooseFile, lastImport, returnToImport } from './chosen-file.ts';

/** What browsers offer when people choose a file. */
const ACCEPTED = '.csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,application/json';

/** Where a file is chosen or dropped. */
export function FileChoice({ choice }: { choice: Exclude<Choice, { kind: 'chosen' }> }) {
  const t = texts.value;
  const { value: last } = lastImport;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <DialogHeading text={t.importBooks} />
      <div class="drop-place" aria-busy={choice.kind === 'reading'}>
        <p class="lead">{choice.kind === 'reading' ? t.reading(choice.name) : t.dropHint}</p>
        <p class="quiet">{t.kinds}</p>
        <button type="button" class="button primary" onClick={() => input.current?.click()}>
          {t.chooseFile}
        </button>
        <input
          ref={input}
          type="file"
          accept={ACCEPTED}
          hidden
          onChange={({ currentTarget }) => void chooseFile([...(currentTarget.files ?? [])])}
        />
      </div>
      <p class="fault" role="alert">
        {choice.kind === 'none' && choice.problem && t.problems[choice.problem]}
      </p>
      {last && last.left.value > 0 && (
        <p class="quiet">
          {t.lastImport(last.left.value, formatNumber(last.left.value))}{' '}
          <button type="button" class="link" onClick={() => returnToImport(last)}>
            {pageTexts.value.look}
          </button>
        </p>
      )}
      <div class="buttons">
        <button type="button" class="button" onClick={closeFiles}>
          {t.cancel}
        </button>
      </div>
    </>
  );
}
