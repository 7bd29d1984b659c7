import type { Engine } from '../engine.ts';
import { openStore } from './book-store.ts';
import { describeWal } from './files/connection.ts';

/** The engine of the SQLite file at a path. A service loads only its store, not what commands need. */
export function createEngine(path: string): Engine {
  return {
    openStore: (observer) => openStore(path, observer),
    describeRemains: () => describeWal(path),
    inspect: async () => (await import('./inspection.ts')).inspectStore(path),
    openArchive: async () => (await import('./archive.ts')).openArchive(path),
    openArchiveForReading: async () => (await import('./archive.ts')).openArchiveForReading(path),
    backUp: async (file, onProgress) =>
      (await import('./files/backups.ts')).backUpStore(path, file, onProgress),
    restore: async (file, onProgress) =>
      (await import('./files/backups.ts')).restoreStore(path, file, onProgress),
  };
}
