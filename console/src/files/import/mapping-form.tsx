import { shown } from '../../../../src/formats/book-row.ts';
import { FIELDS } from '../../../../src/formats/row.ts';
import { texts } from '../../language/file-texts.ts';
import { readAnew } from './chosen-file.ts';
import type { FileImport } from './file-import.ts';

/** Which column of the file fills which field of a book. */
export function MappingForm({ of }: { of: FileImport }) {
  const t = texts.value;
  return (
    <fieldset class="mapping">
      <legend>{t.columns}</legend>
      {FIELDS.map((field) => (
        <label key={field} class="field">
          <span>{t.fields[field]}</span>
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
        <label class="header-choice">
          <input
            type="checkbox"
            checked={of.file.hasHeader}
            onChange={({ currentTarget }) => void readAnew(of, currentTarget.checked)}
          />
          <span>{t.hasHeader}</span>
        </label>
      )}
    </fieldset>
  );
}

/** The most of a cell that tells what a column has. */
const CELL_LENGTH_MAX = 30;

/** The name of a column; with its first cell where it has none of its own. */
function labelOf({ file, sample }: FileImport, column: string): string {
  const row = sample.rows.find((each) => 'cells' in each);
  if (file.hasHeader || !row) return column;
  return `${column}: ${shown(row.cells[sample.columns.indexOf(column)], CELL_LENGTH_MAX)}`;
}
