import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { StoreUnavailable } from '../../../book/book-store.ts';
import type { PoolState, StoreObserver } from '../../observer.ts';
import { isConnectionIntact, isSerializationFailure } from '../errors.ts';
import type { Hosts, Server } from '../hosts/hosts.ts';
import { configure } from './session-settings.ts';

export interface PoolLimits {
  readonly connectionsMax: number;
  /** The server cancels a statement after this time. If it hangs, the service closes the connection {@link GRACE_MS} later. */
  readonly statementTimeoutMs: number;
}

export const POOLS = {
  /**
   * For single books and pages. If the server hangs, they fail after 1.6 s, and after 1.5 s more if a connection has to be
   * opened. Each kind of call runs one batch at a time, and on Citus several.
   */
  books: { connectionsMax: 8, statementTimeoutMs: 1_400 },
  /** For thousands of books in one statement. */
  many: { connectionsMax: 1, statementTimeoutMs: 10_000 },
} as const satisfies Readonly<Record<string, PoolLimits>>;

/** A pool for each of the limits, under their names in the metrics. */
export function openPools<Name extends string>(
  hosts: Hosts,
  limits: Readonly<Record<Name, PoolLimits>>,
  observer: StoreObserver | undefined,
): Readonly<Record<Name, ConnectionPool>> {
  const open = ([name, limit]: [string, PoolLimits]) => {
    const pool = new ConnectionPool(hosts, limit);
    observer?.pool(name, () => pool.state);
    return [name, pool];
  };
  return Object.fromEntries(Object.entries<PoolLimits>(limits).map(open)) as Record<Name, ConnectionPool>;
}

const GRACE_MS = 200;

const ATTEMPTS_MAX = 5;
/** The wait is at most 10 ms before the second attempt, 20 before the third, 40 before the fifth. */
const WAIT_MS = 10;

/** Connections to the server in use, opened on demand; one stays open. When another server is used, they are replaced. */
export class ConnectionPool {
  readonly #hosts: Hosts;
  readonly #limits: PoolLimits;
  #server: Server | undefined;
  #pool: Pool | undefined;
  #isEnded = false;
  /** When a connection became idle; new ones have no entry. */
  readonly #releasedMs = new WeakMap<PoolClient, number>();

  constructor(hosts: Hosts, limits: PoolLimits) {
    this.#hosts = hosts;
    this.#limits = limits;
  }

  /** @throws StoreUnavailable when there is no server, or the pool is closed; else what the driver throws */
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
    const [server, pool] = await this.#current();
    let client: PoolClient | undefined;
    try {
      client = await this.#connect(pool);
      const result = await run(client);
      this.#releasedMs.set(client, performance.now());
      client.release();
      return result;
    } catch (error) {
      client?.release(true);
      this.#hosts.onError(error, server);
      throw error;
    }
  }

  get state(): PoolState {
    const { idleCount = 0, totalCount = 0, waitingCount = 0 } = this.#pool ?? {};
    return { idle: idleCount, used: totalCount - idleCount, waiting: waitingCount };
  }

  /** Waits for running statements, and closes all connections. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#pool?.end();
  }

  async #connect(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      const idleSinceMs = this.#releasedMs.get(client);
      if (idleSinceMs === undefined || !this.#hosts.isProbablyLost(idleSinceMs)) return client;
      client.release(true);
    }
  }

  async #current(): Promise<readonly [Server, Pool]> {
    const server = await this.#hosts.current();
    if (this.#isEnded) throw new StoreUnavailable('closed');
    if (this.#server === server && this.#pool) return [server, this.#pool];
    // Running statements finish, and then their connections are closed.
    void this.#pool?.end();
    this.#server = server;
    this.#pool = this.#createPool(server);
    return [server, this.#pool];
  }

  #createPool(server: Server): Pool {
    const { connectionsMax, statementTimeoutMs } = this.#limits;
    const pool = new Pool({
      ...server.config,
      max: connectionsMax,
      // The others are closed when they are idle for ten seconds. A client that sends a request a minute finds this one open.
      min: 1,
      query_timeout: statementTimeoutMs + GRACE_MS,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, though its type says void
      onConnect: async (client) => {
        // The pool does not listen to a connection that is in use or closing; its loss also rejects its query.
        client.on('error', ignoreLoss);
        await configure(client, statementTimeoutMs);
        await this.#hosts.onConnect(client, server);
      },
    });
    // A lost idle connection is replaced at the next call; without a listener its error would end the process.
    pool.on('error', ignoreLoss);
    return pool;
  }

  /** Whether a failed statement had no effect, and may succeed on a retry or on another server. */
  isRetryable(error: unknown): boolean {
    return isSerializationFailure(error) || this.#hosts.isRetryable(error);
  }
}

/** Retries after a random wait, so that the same transactions do not conflict again. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  isRetryable: (error: unknown) => boolean = isSerializationFailure,
): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (count === ATTEMPTS_MAX || !isRetryable(error)) throw error;
      await sleep(Math.random() * WAIT_MS * count);
    }
  }
}

function ignoreLoss(): void {}
