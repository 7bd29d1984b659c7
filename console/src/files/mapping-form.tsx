import type { FileImport } from './file-import.ts';
import { FIELDS } from './mapping.ts';
import { texts } from './texts.ts';

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
                {column}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
