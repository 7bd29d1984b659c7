import type { Engine } from '../store-engine.ts';
import { StoreNotReady } from '../store-errors.ts';
import { openArchive, openArchiveForReading } from './archive.ts';
import { openStore } from './book-store.ts';
import { inspectStore } from './inspection.ts';
import type { Conninfo } from './pool/conninfo.ts';

/** The engine of the PostgreSQL database of a connection string. */
export function createEngine(conninfo: Conninfo): Engine {
  return {
    openStore: (observer) => openStore(conninfo, observer),
    inspect: () => inspectStore(conninfo),
    openArchive: () => openArchive(conninfo),
    openArchiveForReading: () => openArchiveForReading(conninfo),
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
