import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exactCopiesIn } from '../../console/src/state/duplicate-groups.ts';
import { editedFields, formFieldsOf } from '../../console/src/state/fields.ts';
import { bookReader } from '../../formats/book-row.ts';
import { bookOfKey, keyOf } from '../../formats/equal-books.ts';
import { FORMATS } from '../../formats/file-format.ts';
import { guessMapping } from '../../formats/mapping.ts';
import { writeBooks } from '../../formats/rendering.ts';
import { openRows } from '../../formats/rows.ts';
import { compareRow } from '../../formats/updated-book.ts';
import { type Book, FIELD_NAMES } from '../../src/book/contract.ts';
import { fieldValue, OLD } from '../../testkit/fields.ts';

const OLD_BOOK: Book = { id: 1, ...OLD };

for (const name of FIELD_NAMES) {
  const book: Book = { ...OLD_BOOK, [name]: fieldValue(name, 'new') };

  describe(`The field ${name}`, () => {
    for (const format of FORMATS) {
      test(`is exported to ${format} and imported from it, as a change of the stored book`, async () => {
        async function* file() {
          for await (const text of writeBooks(pages(), format)) yield Buffer.from(text);
        }
        async function* pages() {
          yield [book];
        }
        const { columns, rows } = await openRows(file(), { format });
        assert.deepEqual(columns, ['id', ...FIELD_NAMES]);
        const mapping = guessMapping(columns, { id: 'id' });
        const read = bookReader(columns, mapping, { isUpdate: true });
        const [row] = (await Array.fromAsync(rows)).flat().map(read);
        assert.ok(row && 'book' in row, JSON.stringify(row));
        assert.deepEqual(row.book, book);
        assert.deepEqual(compareRow(OLD_BOOK, row, mapping), { after: book });
      });
    }

    test('tells books apart that are equal else', () => {
      assert.notEqual(keyOf(book), keyOf(OLD_BOOK));
      assert.deepEqual({ id: 1, ...bookOfKey(keyOf(book)) }, book);
      assert.deepEqual(exactCopiesIn([OLD_BOOK, book]), []);
      assert.deepEqual(exactCopiesIn([book, book]), [book]);
    });

    test('of a form is what has been edited', () => {
      assert.deepEqual(editedFields(formFieldsOf(book), OLD_BOOK), { [name]: book[name] });
    });
  });
}
