import type { Book } from '../../book/book.ts';
import { writeBooks } from '../../formats/rendering.ts';
import { openArchiveForReading } from '../../store/open.ts';
import type { Given } from '../command.ts';
import { EXIT_CODES } from '../exit.ts';
import { openTarget } from '../files/output-file.ts';
import { formatOf, STANDARD_STREAM } from '../files/format.ts';
import { Interruption } from '../interruption.ts';
import { Progress } from '../progress.ts';
import { loadStoreAddress } from '../store-address.ts';

/** Writes all books, as of one moment, in the order of their ids. */
export async function perform({ options, operands }: Given): Promise<number> {
  const [path = STANDARD_STREAM] = operands;
  const format = formatOf(path, options.format as string | undefined);
  const address = loadStoreAddress();
  await using archive = await openArchiveForReading(address);
  await using target = await openTarget(path);
  using interruption = new Interruption();
  let count = 0;
  async function* pages(): AsyncGenerator<Book[]> {
    for await (const page of archive.pages()) {
      const books = JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[];
      yield books;
      count += books.length;
    }
  }
  {
    using progress = new Progress('books', () => ({ count, part: undefined }));
    for await (const text of writeBooks(pages(), format)) {
      await target.write(text);
      if (path !== STANDARD_STREAM) progress.update();
      if (interruption.exitCode !== undefined) return interruption.exitCode;
    }
  }
  await target.finish();
  if (path !== STANDARD_STREAM) console.log(`wrote ${count} books`);
  return EXIT_CODES.success;
}
