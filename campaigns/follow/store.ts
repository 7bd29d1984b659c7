import { findFreePort } from '../../test/support/free-port.ts';
import { type Cluster, startCluster } from '../../test/support/postgres.ts';
import { addStandby } from '../../test/support/standby.ts';
import { withHosts } from '../../test/support/with-hosts.ts';
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
}

export async function openStore(engine: EngineName, resources: AsyncDisposableStack): Promise<Store> {
  if (engine === 'SQLite') {
    const { dbUrl } = resources.use(await createAddress(engine));
    return { dbUrl, url: () => dbUrl };
  }
  let primary: Cluster = resources.use(await startCluster({ isSynced: false }));
  let vacantPort = await findFreePort();
  let crashes = 0;
  return {
    dbUrl: withHosts(primary.url, [primary.port, vacantPort]),
    url: () => primary.url,
    async crash() {
      if (++crashes % 2 === 1) {
        await primary.stop('kill');
        await primary.start();
        return 'restarts';
      }
      const former = primary;
      const standby = await addStandby(former, vacantPort);
      primary = resources.use(standby.cluster);
      // A server that is killed may show commits that its standby does not have.
      await former.freeze();
      await standby.promote();
      await former[Symbol.asyncDispose]();
      vacantPort = former.port;
      return 'failovers';
    },
  };
}
