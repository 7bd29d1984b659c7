import { readdirSync } from 'node:fs';

/** Where the page for people is when it has been built: an `index.html`, and files whose names have a hash in them. */
export const CONSOLE_FOLDER = new URL('../console/dist/', import.meta.url);

/** The files of the page by their paths within its folder; none where it has not been built. */
export function listConsoleFiles(): ReadonlySet<string> {
  try {
    return new Set(readdirSync(CONSOLE_FOLDER, { recursive: true, encoding: 'utf8' }));
  } catch {
    return new Set();
  }
}
