import { type BookRow, bookReader, displayText } from '../../../../src/formats/book-row.ts';
import { FIELDS } from '../../../../src/formats/row.ts';
import { formatNumber } from '../../language/language.ts';
import { allTexts } from '../../language/texts.ts';
import type { FileImport } from '../../state/files/file-import.ts';
import { BookText, YearText } from '../book-text.tsx';
import { explainRowError } from './row-error.ts';

const PREVIEW_ROWS = 5;

/** Longer than a cell of the table. */
const TEXT_LENGTH_MAX = 200;

/** The first rows of a file as books. */
export function Preview({ fileImport }: { fileImport: FileImport }) {
  const t = allTexts.value;
  const read = bookReader(fileImport.sample.columns, fileImport.mapping.value);
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
