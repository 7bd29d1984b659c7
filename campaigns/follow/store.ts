import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../testkit/folder.ts';
import { type Cluster, startCluster } from '../../testkit/postgres.ts';
import { Relay } from '../../testkit/relay.ts';
import { run } from '../../testkit/run-program.ts';
import { query } from '../../testkit/sql.ts';
import { addStandby } from '../../testkit/standby.ts';
import { withPort } from '../../testkit/with-port.ts';
import type { EngineName } from '../campaign.ts';
import { createAddress } from '../service.ts';

/** A store, and the outages of its server. */
interface Store {
  /** The address for the service. */
  readonly dbUrl: string;
  /** The address of the server that accepts writes at the moment. */
  readonly url: () => string;
  /** Kills the server, and starts it again or, every second time, promotes a standby. None on SQLite. */
  readonly crash?: () => Promise<'restarts' | 'failovers'>;
  /** Copies the files of the server, which nobody uses. @returns restores them, and then reuses the positions of lost changes */
  readonly copy?: () => Promise<() => Promise<void>>;
}

export async function openStore(engine: EngineName, resources: AsyncDisposableStack): Promise<Store> {
  if (engine === 'SQLite') {
    const { dbUrl } = resources.use(await createAddress(engine));
    return { dbUrl, url: () => dbUrl };
  }
  let primary: Cluster = resources.use(await startCluster({ isSynced: false }));
  const relay = resources.use(await Relay.open(primary.port));
  const { path: copies } = resources.use(await createFolder());
  let crashes = 0;
  return {
    dbUrl: withPort(primary.url, relay.port),
    url: () => primary.url,
    async crash() {
      if (++crashes % 2 === 1) {
        await primary.stop('kill');
        await primary.start();
        return 'restarts';
      }
      const former = primary;
      const standby = await addStandby(former);
      primary = resources.use(standby.cluster);
      // A server that is killed may show commits that its standby does not have.
      await former.freeze();
      await standby.promote();
      relay.target = primary.port;
      // Its folder stays until the end, as the standby runs the programs in it.
      await former.stop('immediate');
      return 'failovers';
    },
    async copy() {
      const original = await folderOf(primary);
      const copy = join(copies, 'data');
      await rm(copy, { recursive: true, force: true });
      await primary.stop();
      await run('cp', '-a', original, copy);
      await primary.start();
      return async () => {
        const last = await lastPositionOf(primary);
        const folder = await folderOf(primary);
        await primary.stop();
        await rm(folder, { recursive: true });
        await run('cp', '-a', copy, folder);
        await primary.start();
        const lost = last - (await lastPositionOf(primary));
        await query(
          primary.url,
          `insert into books (title, author, year) select 'lost', '', 0 from generate_series(1, ${lost})`,
        );
        await query(primary.url, "delete from books where title = 'lost'");
      };
    },
  };
}

async function folderOf({ url }: Cluster): Promise<string> {
  const [settings] = await query(url, 'show data_directory');
  return String(settings?.data_directory);
}

async function lastPositionOf({ url }: Cluster): Promise<number> {
  const [row] = await query(url, 'select max(note) as last from book_history_changes');
  return Number(row?.last);
}
