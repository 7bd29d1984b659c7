import type { Engine } from '../store-engine.ts';
import { openArchive, openArchiveForReading } from './archive.ts';
import { openStore } from './book-store.ts';
import { backUpStore } from './files/backup-file.ts';
import { restoreStore } from './files/restore-file.ts';
import { inspectStore } from './inspection.ts';

/** The engine of the SQLite file at a path. */
export function createEngine(path: string): Engine {
  return {
    openStore: (observer) => openStore(path, observer),
    inspect: () => inspectStore(path),
    openArchive: () => openArchive(path),
    openArchiveForReading: () => openArchiveForReading(path),
    backUp: (file, onProgress) => backUpStore(path, file, onProgress),
    restore: (file, onProgress) => restoreStore(path, file, onProgress),
  };
}
