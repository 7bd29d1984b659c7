import { type BookRow, bookReader, displayText } from 'bookkeeping-formats/book-row.ts';
import { FIELDS } from 'bookkeeping-formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { formatNumber } from '../../language/language.ts';
import { allTexts, explain } from '../../language/texts.ts';
import type { FileChoice } from '../../state/files/file-choice.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import type { FileUpdate } from '../../state/files/file-update.ts';
import { Button } from '../../ui/button.tsx';
import { BookText, YearText } from '../book-text.tsx';
import { useApp } from '../use-app.ts';
import { ChangedRows } from './changed-rows.tsx';
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
  const { value: update } = fileImport.update;
  return (
    <>
      {check?.encoding === 'windows-1252' && <p class="note">{t.windows1252}</p>}
      <MappingForm choice={choice} fileImport={fileImport} />
      <Preview fileImport={fileImport} />
      <div class="step">
        <p role="status">
          {check ? (
            <>
              <strong>{describeValid(fileImport, check.valid)}</strong>{' '}
              {check.invalid > 0 && formatMessage(t.invalidRows, { count: check.invalid })}
            </>
          ) : (
            t.checking
          )}
        </p>
        {check && check.nameless > 0 && (
          <p class="note">{formatMessage(t.namelessRows, { count: check.nameless })}</p>
        )}
        {!check && !fileImport.error.value && (
          <progress value={fileImport.checkedPart.value} aria-label={t.checking} />
        )}
        <InvalidRows fileImport={fileImport} />
        {check && check.unreadYears > 0 && (
          <UnreadYearsOption fileImport={fileImport} count={check.unreadYears} />
        )}
        {(fileImport.hasNumbers.value || fileImport.updates.value) && (
          <UpdateOption fileImport={fileImport} />
        )}
        {check && check.valid > 0 && !fileImport.updates.value && (
          <ExistingBooksOption fileImport={fileImport} />
        )}
      </div>
      <div class="buttons">
        <Button text={t.chooseAnother} variant="ghost first" onClick={() => choice.close()} />
        <Button text={t.cancel} onClick={() => dialogs.close()} />
        <Button
          text={
            update
              ? formatMessage(t.startUpdate, countsOf(update))
              : formatMessage(t.startImport, { count: fileImport.total.value })
          }
          variant="primary"
          aria-disabled={!canStart}
          onClick={() => canStart && void fileImport.start()}
        />
      </div>
    </>
  );
}

function describeValid({ update }: FileImport, valid: number): string {
  const t = allTexts.value;
  if (update.value) return formatMessage(t.updateCounts, countsOf(update.value));
  return valid > 0 ? formatMessage(t.validRows, { count: valid }) : t.noValidRows;
}

function countsOf({ plan: { changes, added, unchanged } }: FileUpdate) {
  return { changed: changes.length - added, added, unchanged };
}

/** The choice between the stored books that have the numbers of a file and new ones, and the changes of those. */
function UpdateOption({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const { value: error } = fileImport.error;
  const { value: updates } = fileImport.updates;
  const { value: update } = fileImport.update;
  const skipped = update?.plan.skipped ?? 0;
  if (!fileImport.hasNumbers.value && !error) return null;
  return (
    <>
      <fieldset>
        <legend class="visually-hidden">{t.importBooks}</legend>
        {([true, false] as const).map((value) => (
          <label key={String(value)} class="checkbox">
            <input
              type="radio"
              name="numbers"
              checked={updates === value}
              onChange={() => fileImport.updateStored(value)}
            />
            <span>{value ? t.updateStored : t.addAll}</span>
          </label>
        ))}
      </fieldset>
      {updates && error && (
        <>
          <p role="status" class="error">
            {formatMessage(t.notSearched, { reason: explain(error) })}
          </p>
          <Button variant="ghost" text={t.tryAgain} onClick={() => fileImport.updateStored(true)} />
        </>
      )}
      {skipped > 0 && <p class="quiet">{formatMessage(t.existing, { count: skipped })}</p>}
      {update && update.plan.changes.length > update.plan.added && <p class="quiet">{t.fileWins}</p>}
      {update && <ChangedRows update={update} />}
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
      {skips && !error && !fileImport.existing.value && (
        <progress value={fileImport.comparedPart.value} aria-label={t.searchingExisting} />
      )}
      {skips && fileImport.existing.value && fileImport.similar.value > 0 && (
        <p class="note">{formatMessage(t.similar, { count: fileImport.similar.value })}</p>
      )}
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
            <option value="">– {fileImport.update.value ? t.keepStored : t.noColumn} –</option>
            {fileImport.choices.map((column) => (
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
const SHOWN_LENGTH_MAX = 200;

/** The first rows of a file as books. */
function Preview({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const read = bookReader(fileImport.sample.columns, fileImport.columns, fileImport.reading);
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
  const absent = { title: noTitle, author: noAuthor };
  return (
    <tr>
      <th scope="row" class="label">
        {formatNumber(row.line)}
      </th>
      {'error' in row ? (
        <td colspan={FIELDS.length} class="error">
          {explainRowError(row.error)}
        </td>
      ) : (
        FIELDS.map((field) => (
          <td key={field} class={field}>
            {field === 'year' ? (
              <YearText year={row.book.year} />
            ) : (
              <BookText text={displayText(row.book[field], SHOWN_LENGTH_MAX)} absent={absent[field]} />
            )}
          </td>
        ))
      )}
    </tr>
  );
}
