import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new, empty folder in the system's temporary folder; disposing takes it away with all that is in it. */
export function createFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  return mkdtempDisposable(join(tmpdir(), 'bookkeeping-'));
}
