import { useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { Button, LinkButton } from '../../page/button.tsx';
import { closeFileDialog } from '../opened-dialog.ts';
import { type ChosenFile, chooseFile, chosenFile, lastImport } from './chosen-file.ts';

/** The file types that the browser's dialog shows. */
const ACCEPTED = '.csv,.tsv,.txt,.json,.ndjson,.jsonl,text/csv,application/json';

export function FileChoice({ file }: { file: Exclude<ChosenFile, { kind: 'open' }> }) {
  const t = allTexts.value;
  const { value: last } = lastImport;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <div class="drop-zone" aria-busy={file.kind === 'opening'}>
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
          onChange={({ currentTarget }) => void chooseFile([...(currentTarget.files ?? [])])}
        />
      </div>
      <p class="error" role="alert">
        {file.kind === 'none' && file.problem && t.problems[file.problem]}
      </p>
      {last && last.left.value > 0 && (
        <p class="quiet">
          {formatMessage(t.lastImport, { count: last.left.value })}{' '}
          <LinkButton
            text={t.show}
            onClick={() => {
              chosenFile.value = { kind: 'open', fileImport: last };
            }}
          />
        </p>
      )}
      <div class="buttons">
        <Button text={t.cancel} onClick={closeFileDialog} />
      </div>
    </>
  );
}
