import type { Engine } from '../engine.ts';
import { StoreNotReady } from '../errors.ts';
import { openStore } from './book-store.ts';
import type { Conninfo } from './connection/conninfo.ts';

/** Creates the engine of a PostgreSQL database. A service loads only its store; commands load the other modules. */
export function createEngine(conninfo: Conninfo): Engine {
  return {
    openStore: (observer) => openStore(conninfo, observer),
    inspect: async () => (await import('./inspection.ts')).inspectStore(conninfo),
    openArchive: async () => (await import('./archive.ts')).openArchive(conninfo),
    openArchiveForReading: async () => (await import('./archive.ts')).openArchiveForReading(conninfo),
    async backUp() {
      throw new StoreNotReady('PostgreSQL is backed up with pg_dump --format=custom --file=FILE DATABASE');
    },
    async restore() {
      throw new StoreNotReady(
        'PostgreSQL is restored with pg_restore --clean --if-exists --dbname=DATABASE FILE',
      );
    },
  };
}
