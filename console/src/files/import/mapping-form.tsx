import { displayText } from '../../../../src/formats/book-row.ts';
import { FIELDS } from '../../../../src/formats/row.ts';
import { fileTexts } from '../../language/file-texts.ts';
import { setHeader } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';

/** The length of a cell in the label of a column. */
const CELL_LENGTH_MAX = 30;

/** Assigns the columns of a file to the fields of a book. */
export function MappingForm({ of }: { of: FileImport }) {
  const t = fileTexts.value;
  return (
    <fieldset class="mapping">
      <legend>{t.columnMapping}</legend>
      {FIELDS.map((field) => (
        <label key={field} class="field">
          <span>{t.columns[field]}</span>
          <select
            class="button"
            name={field}
            value={of.mapping.value[field] ?? ''}
            onChange={({ currentTarget }) => of.map({ [field]: currentTarget.value || undefined })}
          >
            <option value="">– {t.none} –</option>
            {of.sample.columns.map((column) => (
              <option key={column} value={column}>
                {labelOf(of, column)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {of.file.format === 'csv' && (
        <label class="checkbox">
          <input
            type="checkbox"
            checked={of.file.hasHeader}
            onChange={({ currentTarget }) => void setHeader(of, currentTarget.checked)}
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
