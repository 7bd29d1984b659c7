import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';
import { ERRORS_SHOWN_MAX } from '../../state/files/check-file.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { explainRowError } from './row-error.ts';

/** The invalid rows and their errors, if there are any. */
export function InvalidRows({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: check } = fileImport.check;
  if (!check || check.invalid === 0) return null;
  return (
    <div class="invalid-rows">
      <details>
        <summary>{t.showInvalid}</summary>
        {check.invalid > ERRORS_SHOWN_MAX && (
          <p class="quiet">{formatMessage(t.invalidShown, { count: ERRORS_SHOWN_MAX })}</p>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list can be scrolled by keyboard */}
        <ul tabIndex={0} aria-label={t.reportName}>
          {check.errors.map(({ line, element, error }) => (
            <li key={element ?? line}>
              <span class="quiet">
                {formatMessage(t.atLine, { line })}
                {element !== undefined && `, ${formatMessage(t.atElement, { element })}`}
              </span>{' '}
              {explainRowError(error)}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
