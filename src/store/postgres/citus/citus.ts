import type { ClientBase } from 'pg';
import type { BatchOptions, RunBatch } from '../../batch-queue.ts';
import { isUnsupported } from '../errors.ts';
import type { Database } from '../pool/database.ts';
import type { ConnectionPool } from '../pool/pool.ts';
import { runAlone, runTogether } from './batches.ts';
import { CitusDatabase } from './citus-database.ts';
import { Shards } from './shards.ts';

/** Updates and deletions that run at a time: each takes a connection, and there are eight for single books. */
const CONCURRENT_WRITES = 8;

/** More finds run together: a statement on all servers takes as long as some 30 statements on one. */
const FEW_FINDS = 16;

/** Calls whose batches run otherwise where Citus distributes the books: finds, and updates and deletions. */
export type DistributedCalls = 'finds' | 'changes';

/** What differs where Citus distributes the table of books; everything else is as on one server. */
export class Citus {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /** Some statements have another form, with the same parameters and rows. */
  openDatabase(pool: ConnectionPool): Database {
    return new CitusDatabase(pool, this.#shards);
  }

  /**
   * How batches run. A worker that is unavailable must not fail the calls on books of others. A change of several books would be a
   * distributed transaction, which costs more than a change of each.
   */
  batchesOf<Item, Result>(
    calls: DistributedCalls,
    run: RunBatch<Item, Result>,
  ): { readonly run: RunBatch<Item, Result>; readonly options: Partial<BatchOptions<Item>> } {
    if (calls === 'changes') return { run: runAlone(run), options: { batchItemsMax: CONCURRENT_WRITES } };
    const [alone, together] = [runAlone(run), runTogether(run)];
    return { run: (ids) => (ids.length > FEW_FINDS ? together : alone)(ids), options: {} };
  }
}

/** Prepares a database whose schema is prepared. @returns undefined where Citus does not distribute the table of books by its ids */
export async function prepareCitus(client: ClientBase): Promise<Citus | undefined> {
  const citus = await findCitus(client);
  if (citus) await distributeKeys(client);
  return citus;
}

/** @returns undefined where Citus does not distribute the table of books by its ids */
export async function findCitus(client: ClientBase): Promise<Citus | undefined> {
  const { rows: found } = await client.query<{ hasCitus: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as "hasCitus"`,
  );
  if (!found[0]?.hasCitus) return undefined;
  const { rows } = await client.query<{ start: number }>(
    `select shardminvalue::integer as start from pg_dist_shard
     where shardminvalue is not null and logicalrelid = to_regclass('books') order by start`,
  );
  return rows.length === 0 ? undefined : new Citus(new Shards(rows.map(({ start }) => start)));
}

/** Distributes the idempotency keys, so that a book and its key are stored in one distributed transaction. */
async function distributeKeys(client: ClientBase): Promise<void> {
  const isDistributed = `select 1 from pg_dist_partition where logicalrelid = to_regclass('idempotency_keys')`;
  if ((await client.query(isDistributed)).rows.length > 0) return;
  try {
    await client.query(
      `select create_distributed_table('idempotency_keys', 'key', colocate_with => 'none');
       select truncate_local_data_after_distributing_table('idempotency_keys')`,
    );
  } catch (error) {
    // Another process may have done so at the same time; without the privilege, a create with a key is 503.
    if (!isUnsupported(error) && (await client.query(isDistributed)).rows.length === 0) throw error;
  }
}
