import { explainFault, texts } from '../../language/file-texts.ts';
import { formatNumber } from '../../language/language.ts';
import { type Check, FAULTS_SHOWN_MAX } from '../read/check-file.ts';
import type { FileImport } from './file-import.ts';
import { ReportButton } from './report-button.tsx';

/** The rows that are left out, and why. */
export function BadRows({ of, check }: { of: FileImport; check: Check }) {
  const t = texts.value;
  return (
    <div class="bad-rows">
      <details>
        <summary>{t.showBad}</summary>
        {check.bad > FAULTS_SHOWN_MAX && <p class="quiet">{t.badShown(formatNumber(FAULTS_SHOWN_MAX))}</p>}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard, too */}
        <ul tabIndex={0}>
          {check.faults.map(({ line, element, fault }) => (
            <li key={element ?? line}>
              <span class="quiet">
                {t.atLine(formatNumber(line))}
                {element !== undefined && `, ${t.atElement(formatNumber(element))}`}
              </span>{' '}
              {explainFault(fault)}
            </li>
          ))}
        </ul>
      </details>
      <ReportButton of={of} />
    </div>
  );
}
