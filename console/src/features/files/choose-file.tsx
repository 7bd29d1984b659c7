import { useRef } from 'preact/hooks';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import type { ChosenFile, FileChoice } from '../../state/files/file-choice.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { Button } from '../../ui/button.tsx';
import { useApp } from '../use-app.ts';

/** The file types that the browser's dialog shows. */
const ACCEPTED = '.csv,.tsv,.txt,.json,text/csv,application/json';

/** What the steps after the choice of a file need. */
export interface ImportStepProps {
  readonly choice: FileChoice;
  readonly fileImport: FileImport;
}

interface ChooseFileProps {
  readonly choice: FileChoice;
  readonly file: Exclude<ChosenFile, { kind: 'open' }>;
}

export function ChooseFile({ choice, file }: ChooseFileProps) {
  const { dialogs } = useApp();
  const t = allTexts.value;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <div class="drop-zone step" aria-busy={file.kind === 'opening'}>
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
          onChange={({ currentTarget }) => void choice.choose([...(currentTarget.files ?? [])])}
        />
      </div>
      <p class="error" role="alert">
        {file.kind === 'none' && file.problem && t.problems[file.problem]}
      </p>
      <div class="buttons">
        <Button text={t.cancel} onClick={() => dialogs.close()} />
      </div>
    </>
  );
}
