import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseStoreAddress } from '../../src/store/address.ts';

/** The command, as a clone has it. */
export const BOOKKEEPING = join(import.meta.dirname, '..', '..', 'bin', 'bookkeeping.mjs');

/** What its first line has. */
const MEMORY_OPTION = '--max-semi-space-size=16';

/** Where a command runs, and with what. */
export interface Circumstances {
  /** The working directory. */
  readonly folder: string;
  /** Its environment; nothing else is inherited. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What it reads from its standard input; nothing by default. */
  readonly input?: string | Uint8Array;
  /** More may come behind that, so that it waits. */
  readonly isOpen?: boolean;
}

/** How a command ended. */
export interface Ending {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  /** What came to standard output, and to standard error. */
  readonly output: string;
  readonly complaints: string;
}

/** Starts `bookkeeping` with arguments. Its standard streams are pipes. */
export function startCommand(
  args: readonly string[],
  { folder, variables, input = '', isOpen = false }: Circumstances,
): ChildProcess {
  const child = spawn(process.execPath, [MEMORY_OPTION, BOOKKEEPING, ...args], {
    cwd: folder,
    env: { ...variables },
  });
  // A command that cannot be followed does not read.
  child.stdin.on('error', () => {});
  if (isOpen) child.stdin.write(input);
  else child.stdin.end(input);
  return child;
}

/** Runs `bookkeeping` to its end, and asserts that it tells no password of a store. */
export async function runCommand(args: readonly string[], circumstances: Circumstances): Promise<Ending> {
  const child = startCommand(args, circumstances);
  const [output, complaints, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  const { DB_URL = '' } = circumstances.variables ?? {};
  const password = passwordIn(DB_URL);
  if (password !== undefined) assert.ok(!(output + complaints).includes(password), 'a password is told');
  return { code: code as number | null, output, complaints };
}

function passwordIn(dbUrl: string): string | undefined {
  if (!dbUrl.startsWith('postgres')) return undefined;
  const address = parseStoreAddress(dbUrl);
  return address.engine === 'postgres' ? address.conninfo.password?.reveal() : undefined;
}
