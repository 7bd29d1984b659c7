import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { StoreUnavailable } from '../../../book/book-store.ts';
import type { PoolState, StoreObserver } from '../../observer.ts';
import type { PostgresServer } from '../connection/connect.ts';
import { StandbyServer } from '../connection/session-settings.ts';
import { means } from '../error-codes.ts';
import { isConnectionIntact, isReadOnly } from '../errors.ts';

export interface PoolLimits {
  readonly connectionsMax: number;
  /** The server cancels a statement after this time. If it hangs, the service closes the connection {@link GRACE_MS} later. */
  readonly statementTimeoutMs: number;
}

export const POOLS = {
  /**
   * For single books and pages. If the server hangs, they fail after 1.6 s, and after 1.5 s more if a connection has to be
   * opened. Each kind of call runs one batch at a time.
   */
  books: { connectionsMax: 8, statementTimeoutMs: 1_400 },
  /** For thousands of books in one statement. */
  many: { connectionsMax: 1, statementTimeoutMs: 10_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/** A pool for each of the limits, under their names in the metrics. */
export function openPools<Name extends string>(
  server: PostgresServer,
  limits: Readonly<Record<Name, PoolLimits>>,
  observer: StoreObserver,
): Readonly<Record<Name, ConnectionPool>> {
  const open = ([name, limit]: [string, PoolLimits]) => {
    const pool = new ConnectionPool(server, limit);
    observer.pool(name, () => pool.state);
    return [name, pool];
  };
  return Object.fromEntries(Object.entries<PoolLimits>(limits).map(open)) as Record<Name, ConnectionPool>;
}

const GRACE_MS = 200;

const ATTEMPTS_MAX = 5;
/** The wait is at most 10 ms before the second attempt, 20 before the third, 40 before the fifth. */
const WAIT_MS = 10;

/** Connections to the server, opened on demand; one stays open. */
export class ConnectionPool {
  readonly #server: PostgresServer;
  readonly #pool: Pool;
  /** When a connection became idle; new ones have no entry. */
  readonly #releasedMs = new WeakMap<PoolClient, number>();

  constructor(server: PostgresServer, { connectionsMax, statementTimeoutMs }: PoolLimits) {
    this.#server = server;
    this.#pool = new Pool({
      ...server.config,
      max: connectionsMax,
      // The others are closed when they are idle for ten seconds. A client that sends a request a minute finds this one open.
      min: 1,
      query_timeout: statementTimeoutMs + GRACE_MS,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, though its type says void
      onConnect: (client) => server.onConnect(client, statementTimeoutMs),
    });
    // An idle connection that breaks is replaced at the next call; without a listener its error would end the process.
    this.#pool.on('error', () => {});
  }

  /** @throws StoreUnavailable when the server is a standby, or the pool is closed; else what the driver throws */
  async query<Row extends QueryResultRow>(
    query: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<Row>> {
    const outcome = await this.withConnection((client) =>
      client.query<Row>(query, values).catch((error: unknown) => {
        if (isConnectionIntact(error)) return { error };
        throw error;
      }),
    );
    if ('error' in outcome) throw outcome.error;
    return outcome;
  }

  /** Runs several statements on a connection, which is closed if `run` throws. @throws like {@link query}, or like `run` */
  async withConnection<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#pool.ending) throw new StoreUnavailable('closed');
    let client: PoolClient | undefined;
    try {
      client = await this.#connect();
      const result = await run(client);
      this.#releasedMs.set(client, performance.now());
      client.release();
      return result;
    } catch (error) {
      client?.release(true);
      this.#server.onError(error);
      throw error;
    }
  }

  get state(): PoolState {
    const { idleCount, totalCount, waitingCount } = this.#pool;
    return { idle: idleCount, used: totalCount - idleCount, waiting: waitingCount };
  }

  /** Waits for running statements, and closes all connections. */
  end(): Promise<void> {
    return this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pool.connect();
      const idleSinceMs = this.#releasedMs.get(client);
      if (idleSinceMs === undefined || !this.#server.isOutdated(idleSinceMs)) return client;
      client.release(true);
    }
  }
}

/** Whether a failed statement had no effect, and may succeed on a retry or, after a failover, on a new connection. */
function isRetryable(error: unknown): boolean {
  return means(error, 'serialization failure') || isReadOnly(error) || error instanceof StandbyServer;
}

/** Whether to repeat what has failed with an error that proves that it had no effect. */
export type MayRetry = (error: unknown) => boolean | Promise<boolean>;

/**
 * Repeats what had no effect, after a random wait, so that the same transactions do not conflict again.
 *
 * @param mayRetry for further errors than those of {@link isRetryable}
 */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  mayRetry: MayRetry = () => false,
): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === ATTEMPTS_MAX || !(isRetryable(error) || (await mayRetry(error)))) throw error;
      await sleep(Math.random() * WAIT_MS * count);
    }
  }
}
