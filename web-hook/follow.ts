import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { ChangesRemovedError, RefusedError } from '../client/index.ts';
import { CommandError, EXIT_CODES, UsageError } from '../src/cli/exits.ts';
import { openOutput, readText, STANDARD_STREAM, syncFolderOf, toFileError } from '../src/cli/files.ts';
import { Interruption } from '../src/cli/interruption.ts';
import { openClient, toCommandError } from '../src/cli/service-client.ts';
import { WebHook } from './web-hook.ts';

interface FollowOptions {
  readonly url?: string | undefined;
  readonly once?: true | undefined;
  readonly post?: string | undefined;
  readonly secretFile?: string | undefined;
}

/** Prints or delivers changes, and keeps the cursor of the last one in a file. */
export async function perform(
  file: string | undefined,
  { url, once, post, secretFile }: FollowOptions,
): Promise<number> {
  if ((post === undefined) !== (secretFile === undefined))
    throw new UsageError('follow: --post and --secret-file need each other');
  const hook = URL.parse(post ?? '');
  // fetch rejects URLs with a username or a password.
  if (post !== undefined && (!/^https?:$/.test(hook?.protocol ?? '') || hook?.username || hook?.password))
    throw new UsageError('follow: --post must be an http or https URL without a password');
  const webHook = post !== undefined && secretFile !== undefined ? new WebHook(post, secretFile) : undefined;
  const client = openClient(url);
  const after = file !== undefined && existsSync(file) ? readText(file) || undefined : undefined;
  const interruption = new Interruption();
  const { signal } = interruption;
  await using output = await openOutput(STANDARD_STREAM);
  try {
    for await (const change of client.changes({ after, once, signal })) {
      if (webHook) await webHook.deliver(change, signal);
      else await output.write(`${JSON.stringify(change)}\n`);
      if (file !== undefined) keepCursor(file, change.cursor);
      signal.throwIfAborted();
    }
    return EXIT_CODES.success;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw (file !== undefined && toCursorError(error, file)) || toCommandError(error);
  }
}

/** The error of a cursor after which changes are missing, or that is one of another store, with what to do. */
function toCursorError(error: unknown, file: string): CommandError | undefined {
  const isOfOtherStore = error instanceof RefusedError && error.status === 400;
  if (!isOfOtherStore && !(error instanceof ChangesRemovedError)) return undefined;
  const reason = isOfOtherStore
    ? `${file} has the cursor of another store`
    : `changes after the cursor in ${file} are missing`;
  return new CommandError(
    `${reason}: copy all books again (bookkeeping export), and delete ${file} to follow from the first change that is kept`,
  );
}

/** Writes without waiting for other work, since there may be many changes. */
function keepCursor(file: string, cursor: string): void {
  const draft = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    writeFileSync(draft, `${cursor}\n`, { flush: true, flag: 'wx' });
    renameSync(draft, file);
    syncFolderOf(file);
  } catch (error) {
    throw toFileError(error, `${file} cannot be written`);
  }
}
