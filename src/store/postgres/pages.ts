import { YEAR_MAX } from '../../book/book.ts';
import type { ListPage } from '../../book/book-store.ts';
import { type BookFields, EMPTY_BOOK, INTEGER_NAMES } from '../../book/contract.ts';
import { type PageRequest, toPage } from '../page.ts';
import { BOOK_COLUMNS, exact, HAS_EXACT_ID, textBytes } from './book-columns.ts';
import type { BatchStatement, Database, Statement } from './pool/database.ts';

const INTEGER_TEXTS = ['id::text', ...INTEGER_NAMES.map((name) => `${exact(name)}::text`)];
/** An empty book has a digit for each of its integers, and in a list a comma. */
const OTHER_BYTES = JSON.stringify({ id: 0, ...EMPTY_BOOK }).length - INTEGER_TEXTS.length + 1;
/** The length of a book in a page if JSON escapes none of its characters; and the most that it can be, which costs less to tell. */
const PLAIN_BYTES = `(${textBytes()} + ${INTEGER_TEXTS.map((text) => `octet_length(${text})`).join(' + ')} + ${OTHER_BYTES})`;
const PLAIN_BYTES_MAX = `(${textBytes()} + ${OTHER_BYTES + INTEGER_TEXTS.length * String(-YEAR_MAX).length})`;
/**
 * A page ends at a number of books, or before their JSON has more bytes. Only if so many books may have more are those counted that fit.
 * It has a JSON array for each column: PostgreSQL takes twice the time for JSON objects of the books.
 */
const pageOf = (after: string, limit: string, bytes: string) => {
  const next = (columns: string, count: string) =>
    `(select ${columns} from books where id > ${after} and ${HAS_EXACT_ID} order by id limit ${count}) as next`;
  const fitting = `
    case when (select sum(bytes) from ${next(`${PLAIN_BYTES_MAX} as bytes`, limit)}) <= ${bytes} then ${limit}
      else (
        select greatest(count(*), 1)
        from (select sum(bytes) over (order by id) - 1 as total from ${next(`id, ${PLAIN_BYTES} as bytes`, limit)}) as sums
        where total <= ${bytes}
      )
    end`;
  return `
    select last, ids, titles, authors, years, exists (select from books where id > last and ${HAS_EXACT_ID}) as more
    from (
      select max(id) as last, json_agg(id) as ids, json_agg(title) as titles, json_agg(author) as authors,
        json_agg(year) as years
      from ${next(BOOK_COLUMNS, fitting)}
    ) as page
  `;
};
export const SELECT_PAGE: BatchStatement = {
  name: 'list',
  text: `
  select page.*
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as given (after_id, books_max, bytes_max, position)
    cross join lateral (${pageOf('given.after_id', 'given.books_max', 'given.bytes_max')}) as page
  order by given.position
`,
  one: pageOf('$1::bigint', '$2::bigint', '$3::bigint'),
};

/** A row of `SELECT_PAGE`: the columns are null when there are no books. */
export interface ColumnsRow {
  readonly more: boolean;
  readonly last: number | null;
  readonly ids: readonly number[] | null;
  titles: readonly string[] | null;
  authors: readonly string[] | null;
  readonly years: readonly number[] | null;
}

export type Query = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

/** @returns the pages in the order of the requests */
export async function selectPages(database: Database, requests: readonly PageRequest[]): Promise<ListPage[]> {
  const columns = [
    requests.map(({ after }) => after),
    requests.map(({ books }) => books),
    requests.map(({ bytes }) => bytes),
  ];
  const rows = await database.queryBatch<ColumnsRow>(SELECT_PAGE, columns);
  return rows.map((row, index) => renderPage(row, (requests[index] as PageRequest).bytes));
}

/** Makes the page of a row: of its first books, if JSON escapes so much of their texts that they have more bytes. */
export function renderPage(row: ColumnsRow, bytes: number): ListPage {
  const { titles, authors, years } = row;
  const ids = row.ids ?? [];
  // The results of a list reference each other until a full garbage collection: 50 MB if they keep their texts.
  Object.assign(row, { titles: null, authors: null });
  const books = ids.map(
    (id, index): PageBook => ({
      id,
      title: titles?.[index],
      author: authors?.[index],
      year: years?.[index],
    }),
  );
  const json = toJson(books);
  if (json.length <= bytes) return toPage({ ...row, json: books.length > 0 ? json : null });
  const first = books.slice(0, countFitting(books, bytes));
  return toPage({
    last: first.at(-1)?.id ?? null,
    more: row.more || first.length < books.length,
    json: toJson(first),
  });
}

/** A field that is not in the row is undefined. */
type PageBook = { readonly id: number } & Readonly<Record<keyof BookFields, unknown>>;

const encoder = new TextEncoder();

/** @returns memory of its own, which `Buffer.from` shares, so that it can be freed */
function toJson(books: readonly object[]): Uint8Array {
  return encoder.encode(JSON.stringify(books)).subarray(1, -1);
}

/** The number of books whose JSON has so many bytes, at least one. */
function countFitting(books: readonly object[], bytes: number): number {
  let length = -1;
  const end = books.findIndex((book, index) => {
    length += toJson([book]).length + 1;
    return index > 0 && length > bytes;
  });
  return end === -1 ? books.length : end;
}
