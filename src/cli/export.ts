import type { Book } from '../book.ts';
import { openArchiveForReading } from '../store/open.ts';
import type { Given } from './command.ts';
import { EXIT_CODES } from './exit.ts';
import { RENDERINGS } from './export/rendering.ts';
import { openTarget } from './export/target.ts';
import { formatOf, STANDARD_STREAM } from './format.ts';
import { Interruption } from './interruption.ts';
import { Progress } from './progress.ts';
import { loadStoreAddress } from './store-address.ts';

/** Writes all books, as of one moment, in the order of their ids. */
export async function perform({ options, operands }: Given): Promise<number> {
  const [path = STANDARD_STREAM] = operands;
  const rendering = RENDERINGS[formatOf(path, options.format as string | undefined)];
  const { head, separator, terminator, foot, render } = rendering;
  const address = loadStoreAddress();
  await using archive = await openArchiveForReading(address);
  await using target = await openTarget(path);
  using interruption = new Interruption();
  let count = 0;
  {
    using progress = new Progress('books', () => ({ count, part: undefined }));
    await target.write(head);
    for await (const page of archive.pages()) {
      const books = JSON.parse(`[${Buffer.from(page).toString()}]`) as Book[];
      const text = books.map(render).join(separator);
      await target.write(count === 0 ? text : separator + text);
      count += books.length;
      if (path !== STANDARD_STREAM) progress.update();
      if (interruption.exitCode !== undefined) return interruption.exitCode;
    }
    await target.write(count > 0 ? terminator + foot : foot);
  }
  await target.finish();
  if (path !== STANDARD_STREAM) console.log(`wrote ${count} books`);
  return EXIT_CODES.success;
}
