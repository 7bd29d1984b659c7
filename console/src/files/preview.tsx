import { YearText } from '../book/year-text.tsx';
import { ShownText } from '../catalogue/shown-text.tsx';
import { formatNumber, texts as pageTexts } from '../language/language.ts';
import { isFault, readBookRow, shown } from './book-row.ts';
import type { FileImport } from './file-import.ts';
import type { BrokenRow, Row } from './row.ts';
import { explainFault, texts } from './texts.ts';

/** So many rows show whether the columns are the right ones. */
const PREVIEW_ROWS = 5;

/** The most of a text that there is room for. */
const SHOWN_LENGTH_MAX = 200;

/** The first rows of a file as books. */
export function Preview({ of }: { of: FileImport }) {
  const t = texts.value;
  return (
    <div class="preview">
      <table>
        <caption>{t.preview}</caption>
        <thead>
          <tr>
            <th scope="col" class="line number">
              {t.line}
            </th>
            <th scope="col">{t.fields.title}</th>
            <th scope="col" class="author">
              {t.fields.author}
            </th>
            <th scope="col" class="year number">
              {t.fields.year}
            </th>
          </tr>
        </thead>
        <tbody>
          {of.sample.rows.slice(0, PREVIEW_ROWS).map((row) => (
            <PreviewRow key={row.line} of={of} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PreviewRow({ of, row }: { of: FileImport; row: Row | BrokenRow }) {
  const { noTitle, noAuthor } = pageTexts.value;
  const isCsv = of.file.format === 'csv';
  const book = readBookRow(row, of.mapping.value, isCsv);
  return (
    <tr>
      <th scope="row" class="line number">
        {formatNumber(row.line)}
      </th>
      {isFault(book) ? (
        <td colspan={3} class="fault">
          {explainFault(book)}
        </td>
      ) : (
        <>
          <td>
            <ShownText text={shown(book.title, SHOWN_LENGTH_MAX)} absent={noTitle} />
          </td>
          <td>
            <ShownText text={shown(book.author, SHOWN_LENGTH_MAX)} absent={noAuthor} />
          </td>
          <td class="number">
            <YearText year={book.year} />
          </td>
        </>
      )}
    </tr>
  );
}
