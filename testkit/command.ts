import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseStoreAddress } from '../src/store/address.ts';

/** The command of a clone. */
export const BOOKKEEPING = join(import.meta.dirname, '..', 'bin', 'bookkeeping.mjs');

/** The option in its first line. */
const MEMORY_OPTION = '--max-semi-space-size=8';

export interface RunOptions {
  /** The working directory. */
  readonly folder: string;
  /** The whole environment. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Standard input; empty by default. */
  readonly input?: string | Uint8Array;
  /** Whether standard input stays open. */
  readonly isOpen?: boolean;
}

export interface Ending {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `bookkeeping` with arguments. Its standard streams are pipes. */
export function startCommand(
  args: readonly string[],
  { folder, variables, input = '', isOpen = false }: RunOptions,
): ChildProcess {
  const child = spawn(process.execPath, [MEMORY_OPTION, BOOKKEEPING, ...args], {
    cwd: folder,
    env: { ...variables },
  });
  // An invalid command does not read.
  child.stdin.on('error', () => {});
  if (isOpen) child.stdin.write(input);
  else child.stdin.end(input);
  return child;
}

/** The lines that report the progress of what takes some seconds. */
const PROGRESS = /^(?:[0-9]+ %, .* left|[0-9,]+ \w+, [0-9,]+\/s)\n/gm;

/** What a command has written to standard error, without reports of its progress, which only a slow machine gets. */
export function withoutProgress(stderr: string): string {
  return stderr.replace(PROGRESS, '');
}

/** Runs `bookkeeping`, and asserts that it prints no password of a store. Reports of its progress, on a slow machine, are left out. */
export async function runCommand(args: readonly string[], options: RunOptions): Promise<Ending> {
  const child = startCommand(args, options);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  const { DB_URL = '' } = options.variables ?? {};
  const password = passwordIn(DB_URL);
  if (password !== undefined) assert.ok(!(stdout + stderr).includes(password), 'a password is printed');
  return { code: code as number | null, stdout, stderr: withoutProgress(stderr) };
}

function passwordIn(dbUrl: string): string | undefined {
  if (!dbUrl.startsWith('postgres')) return undefined;
  const address = parseStoreAddress(dbUrl);
  return address.engine === 'postgres' ? address.conninfo.password?.reveal() : undefined;
}
