import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder; disposing deletes it with its contents. */
export function createFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  return mkdtempDisposable(join(tmpdir(), 'bookkeeping-'));
}
