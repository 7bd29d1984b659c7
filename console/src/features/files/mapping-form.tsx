import { displayText } from '../../../../src/formats/book-row.ts';
import { FIELDS } from '../../../../src/formats/row.ts';
import { allTexts } from '../../language/texts.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import type { ImportStepProps } from './choose-file.tsx';

/** The longest cell in the label of a column. */
const CELL_LENGTH_MAX = 30;

/** Assigns the columns of a file to the fields of a book. */
export function MappingForm({ choice, fileImport }: ImportStepProps) {
  const t = allTexts.value;
  return (
    <fieldset class="mapping">
      <legend>{t.columnMapping}</legend>
      {FIELDS.map((field) => (
        <label key={field} class="field">
          <span>{t.columns[field]}</span>
          <select
            class="button"
            name={field}
            value={fileImport.mapping.value[field] ?? ''}
            onChange={({ currentTarget }) => fileImport.map({ [field]: currentTarget.value || undefined })}
          >
            <option value="">– {t.noColumn} –</option>
            {fileImport.sample.columns.map((column) => (
              <option key={column} value={column}>
                {labelOf(fileImport, column)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {fileImport.file.format === 'csv' && (
        <label class="checkbox">
          <input
            type="checkbox"
            checked={fileImport.file.hasHeader}
            onChange={({ currentTarget }) => void choice.setHeader(fileImport, currentTarget.checked)}
          />
          <span>{t.hasHeader}</span>
        </label>
      )}
    </fieldset>
  );
}

/** The name of a column; its number and first cell when there is no header. */
function labelOf({ file, sample }: FileImport, column: string): string {
  const row = sample.rows.find((each) => 'cells' in each);
  if (file.hasHeader || !row) return column;
  return `${column}: ${displayText(row.cells[sample.columns.indexOf(column)], CELL_LENGTH_MAX)}`;
}
