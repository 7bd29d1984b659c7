import { CommandError, EXIT_CODES, UsageError } from '../exits.ts';
import { openClient, toCommandError } from '../service-client.ts';

/** Performs `bookkeeping restore-book`. @returns the exit code */
export async function perform(text: string, options: { readonly url?: string | undefined }): Promise<number> {
  if (!/^[0-9]+$/.test(text)) throw new UsageError('restore-book: ID must be a number');
  try {
    const restored = await openClient(options.url).restore(Number(text));
    if (!restored) throw new CommandError(`no deletion of book ${text} is known`);
    const { etag: _, ...book } = restored;
    console.log(JSON.stringify(book));
    return EXIT_CODES.success;
  } catch (error) {
    throw toCommandError(error);
  }
}
