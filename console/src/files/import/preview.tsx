import { type BookRow, bookReader, shown } from '../../../../src/formats/book-row.ts';
import { YearText } from '../../book/book-text.tsx';
import { ShownText } from '../../catalogue/shown-text.tsx';
import { explainFault, texts } from '../../language/file-texts.ts';
import { formatNumber, texts as pageTexts } from '../../language/language.ts';
import type { FileImport } from './file-import.ts';

/** So many rows show whether the columns are the right ones. */
const PREVIEW_ROWS = 5;

/** The most of a text that there is room for. */
const SHOWN_LENGTH_MAX = 200;

/** The first rows of a file as books. */
export function Preview({ of }: { of: FileImport }) {
  const t = texts.value;
  const read = bookReader(of.sample.columns, of.mapping.value);
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
            <PreviewRow key={row.element ?? row.line} row={read(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PreviewRow({ row }: { row: BookRow }) {
  const { noTitle, noAuthor } = pageTexts.value;
  return (
    <tr>
      <th scope="row" class="line number">
        {formatNumber(row.line)}
      </th>
      {'fault' in row ? (
        <td colspan={3} class="fault">
          {explainFault(row.fault)}
        </td>
      ) : (
        <>
          <td>
            <ShownText text={shown(row.book.title, SHOWN_LENGTH_MAX)} absent={noTitle} />
          </td>
          <td>
            <ShownText text={shown(row.book.author, SHOWN_LENGTH_MAX)} absent={noAuthor} />
          </td>
          <td class="number">
            <YearText year={row.book.year} />
          </td>
        </>
      )}
    </tr>
  );
}
