import type { Book } from '../../src/book/contract.ts';
import { EXIT_CODES } from '../../src/cli/exits.ts';
import { openOutput, STANDARD_STREAM } from '../../src/cli/files.ts';
import { Interruption } from '../../src/cli/interruption.ts';
import { Progress } from '../../src/cli/progress.ts';
import { loadStoreAddress } from '../../src/config/config.ts';
import { loadEngine } from '../../src/store/load-engine.ts';
import { writeBooks } from '../rendering.ts';
import { formatOf } from './format-option.ts';

/** Writes a snapshot of all books in the order of their ids. */
export async function perform(
  file = STANDARD_STREAM,
  options: { readonly format?: string | undefined } = {},
): Promise<number> {
  const format = formatOf(file, options.format);
  const engine = await loadEngine(loadStoreAddress());
  await using archive = await engine.openArchiveForReading();
  await using output = await openOutput(file);
  const interruption = new Interruption();
  let count = 0;
  async function* pages(): AsyncGenerator<Book[]> {
    for await (const page of archive.pages()) {
      const books = JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[];
      yield books;
      count += books.length;
    }
  }
  {
    using progress = new Progress('books', () => ({ count, fraction: undefined }));
    for await (const text of writeBooks(pages(), format)) {
      await output.write(text);
      if (file !== STANDARD_STREAM) progress.update();
      if (interruption.exitCode !== undefined) return interruption.exitCode;
    }
  }
  await output.finish();
  if (file !== STANDARD_STREAM) console.log(`wrote ${count} books`);
  return EXIT_CODES.success;
}
