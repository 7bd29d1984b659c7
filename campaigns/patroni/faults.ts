import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from './member.ts';
import type { PatroniCluster } from './patroni-cluster.ts';

/** What happens to the leader. */
export interface Fault {
  /** Whether another member becomes the leader. */
  readonly isReplaced: boolean;
  /** Causes it; resolves when there is a leader again. */
  begin(cluster: PatroniCluster, leader: Member): Promise<void>;
  /** Brings back what was stopped. */
  end(cluster: PatroniCluster, leader: Member): Promise<void>;
}

/** How long a former primary serves beside the new one before its Patroni stops it. */
const FORMER_PRIMARY_MS = 3_000;

/** The minimum time without etcd. */
const WITHOUT_ETCD_MS = 5_000;

/** A table in which former primaries try to write. */
export const FENCE = 'fence';

/** The faults by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'PostgreSQL killed': {
    isReplaced: true,
    async begin(cluster, leader) {
      await leader.killPostgres();
      await cluster.replaced(leader);
    },
    end: async () => {},
  },
  'Patroni killed': {
    isReplaced: true,
    async begin(cluster, leader) {
      await leader.killPatroni();
      await cluster.replaced(leader);
      await writeBehind(cluster, leader);
    },
    async end(_cluster, leader) {
      leader.startPatroni();
    },
  },
  switchover: {
    isReplaced: true,
    async begin(cluster, leader) {
      await cluster.switchOver(leader);
      await cluster.replaced(leader);
    },
    end: async () => {},
  },
  'leader frozen': {
    isReplaced: true,
    async begin(cluster, leader) {
      await leader.freeze();
      await cluster.replaced(leader);
    },
    async end(cluster, leader) {
      leader.thawPostgres();
      await writeBehind(cluster, leader);
      leader.thaw();
    },
  },
  'etcd stopped': {
    isReplaced: false,
    async begin(cluster, leader) {
      await cluster.etcd.stop();
      await Promise.all([cluster.demoted(leader), sleep(WITHOUT_ETCD_MS)]);
    },
    async end(cluster) {
      await cluster.etcd.start();
    },
  },
};

/**
 * Writes to a former primary while another member is the leader.
 *
 * @throws Error when it acknowledges the write
 */
async function writeBehind(cluster: PatroniCluster, former: Member): Promise<void> {
  const isOver = sleep(FORMER_PRIMARY_MS);
  const isAcknowledged = await cluster.query(former, `insert into ${FENCE} default values`).then(
    () => true,
    () => false,
  );
  if (isAcknowledged) throw new Error('a former primary has acknowledged a write');
  await isOver;
}
