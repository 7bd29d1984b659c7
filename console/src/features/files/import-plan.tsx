import { type BookRow, bookReader, displayText } from 'bookkeeping-formats/book-row.ts';
import { FIELDS } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { formatNumber } from '../../language/language.ts';
import { allTexts, explain } from '../../language/texts.ts';
import type { FileChoice } from '../../state/files/file-choice.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { Button } from '../../ui/button.tsx';
import { BookText, YearText } from '../book-text.tsx';
import { useApp } from '../use-app.ts';
import { InvalidRows } from './invalid-rows.tsx';
import { explainRowError } from './row-error.ts';

/** What the steps after the choice of a file need. */
export interface ImportStepProps {
  readonly choice: FileChoice;
  readonly fileImport: FileImport;
}

/** The preview of an import, before it starts. */
export function ImportPlan({ choice, fileImport }: ImportStepProps) {
  const { dialogs } = useApp();
  const t = allTexts.value;
  const { value: check } = fileImport.check;
  const { value: canStart } = fileImport.canStart;
  return (
    <>
      {check?.encoding === 'windows-1252' && <p class="note">{t.windows1252}</p>}
      <MappingForm choice={choice} fileImport={fileImport} />
      <Preview fileImport={fileImport} />
      <div class="step">
        <p role="status">
          {check ? (
            <>
              <strong>
                {check.valid > 0 ? formatMessage(t.validRows, { count: check.valid }) : t.noValidRows}
              </strong>{' '}
              {check.invalid > 0 && formatMessage(t.invalidRows, { count: check.invalid })}
            </>
          ) : (
            t.checking
          )}
        </p>
        {check && check.nameless > 0 && (
          <p class="note">{formatMessage(t.namelessRows, { count: check.nameless })}</p>
        )}
        {!check && <progress value={fileImport.checkedPart.value} aria-label={t.checking} />}
        <InvalidRows fileImport={fileImport} />
        {check && check.unreadYears > 0 && (
          <UnreadYearsOption fileImport={fileImport} count={check.unreadYears} />
        )}
        {check && check.valid > 0 && <ExistingBooksOption fileImport={fileImport} />}
      </div>
      <div class="buttons">
        <Button text={t.chooseAnother} variant="ghost first" onClick={() => choice.close()} />
        <Button text={t.cancel} onClick={() => dialogs.close()} />
        <Button
          text={formatMessage(t.startImport, { count: fileImport.total.value })}
          variant="primary"
          aria-disabled={!canStart}
          onClick={() => canStart && void fileImport.start()}
        />
      </div>
    </>
  );
}

/** The option to import rows whose year cannot be read. */
function UnreadYearsOption({ fileImport, count }: { fileImport: FileImport; count: number }) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={fileImport.acceptsUnreadYears.value}
        onChange={({ currentTarget }) => fileImport.acceptUnreadYears(currentTarget.checked)}
      />
      <span>{formatMessage(allTexts.value.acceptUnreadYears, { count })}</span>
    </label>
  );
}

/** The option to skip existing books, and their number. */
function ExistingBooksOption({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: error } = fileImport.error;
  const { value: count } = fileImport.skipped;
  const { value: skips } = fileImport.skipsExisting;
  return (
    <div>
      <label class="checkbox">
        <input
          type="checkbox"
          checked={skips}
          onChange={({ currentTarget }) => fileImport.skipExisting(currentTarget.checked)}
        />
        <span>{t.skipExisting}</span>
      </label>
      <p role="status" class={error ? 'error' : 'quiet'}>
        {skips &&
          (error
            ? formatMessage(t.notSearched, { reason: explain(error) })
            : fileImport.existing.value
              ? count > 0 && formatMessage(t.existing, { count })
              : t.searchingExisting)}
      </p>
      {skips && error && (
        <Button variant="ghost" text={t.tryAgain} onClick={() => fileImport.skipExisting(true)} />
      )}
    </div>
  );
}

/** The longest cell in the label of a column. */
const CELL_LENGTH_MAX = 30;

/** Assigns the columns of a file to the fields of a book. */
function MappingForm({ choice, fileImport }: ImportStepProps) {
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
      {fileImport.sample.format === 'csv' && (
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

const PREVIEW_ROWS = 5;

/** Longer than a cell of the table. */
const TEXT_LENGTH_MAX = 200;

/** The first rows of a file as books. */
function Preview({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const read = bookReader(fileImport.sample.columns, fileImport.mapping.value, fileImport.reading);
  return (
    <table class="preview">
      <caption>{t.preview}</caption>
      <thead>
        <tr>
          <th scope="col" class="label">
            {t.line}
          </th>
          {FIELDS.map((field) => (
            <th key={field} scope="col" class={field}>
              {t.columns[field]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fileImport.sample.rows.slice(0, PREVIEW_ROWS).map((row) => (
          <PreviewRow key={row.element ?? row.line} row={read(row)} />
        ))}
      </tbody>
    </table>
  );
}

function PreviewRow({ row }: { row: BookRow }) {
  const { noTitle, noAuthor } = allTexts.value;
  return (
    <tr>
      <th scope="row" class="label">
        {formatNumber(row.line)}
      </th>
      {'error' in row ? (
        <td colspan={3} class="error">
          {explainRowError(row.error)}
        </td>
      ) : (
        <>
          <td>
            <BookText text={displayText(row.book.title, TEXT_LENGTH_MAX)} absent={noTitle} />
          </td>
          <td>
            <BookText text={displayText(row.book.author, TEXT_LENGTH_MAX)} absent={noAuthor} />
          </td>
          <td class="year">
            <YearText year={row.book.year} />
          </td>
        </>
      )}
    </tr>
  );
}
