import { Pool, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import type { PoolState } from '../../observer.ts';
import { isConnectionLost, isConnectionRefused, isReadOnly, isSerializationFailure } from '../errors.ts';
import type { SessionAttributes } from './conninfo.ts';
import type { Server, Servers } from './servers.ts';
import { configure, expectSuitable, UnsuitableServer, watch } from './session-settings.ts';

/** What a pool of connections is for. */
export interface PoolLimits {
  /** The most connections. */
  readonly connectionsMax: number;
  /** After this the server gives up a statement, and {@link GRACE_MS} later we give up the server. */
  readonly statementTimeoutMs: number;
}

/**
 * For calls on single books and pages: every kind has one batch under way at a time, and whoever asks a server that has
 * frozen is told so within 2 seconds.
 */
export const BOOK_POOL: PoolLimits = { connectionsMax: 8, statementTimeoutMs: 1_400 };

/** For what may take longer: thousands of books in one statement. */
export const BULK_POOL: PoolLimits = { connectionsMax: 1, statementTimeoutMs: 10_000 };

/** For searches, which keep off the connections of those who read and write single books. */
export const SEARCH_POOL: PoolLimits = { connectionsMax: 2, statementTimeoutMs: 1_400 };

/** For the index of searches: nobody waits for it, and a book of a megabyte takes its time. */
export const INDEX_POOL: PoolLimits = { connectionsMax: 2, statementTimeoutMs: 60_000 };

const GRACE_MS = 200;

/** With these a server that refuses to write is not the one that was meant. */
const WRITABLE: ReadonlySet<SessionAttributes> = new Set(['any', 'read-write', 'primary']);

/** Connections to the server in use, each opened when it is needed. When it is another one, so are they. */
export class ConnectionPool {
  readonly #servers: Servers;
  readonly #bounds: PoolLimits;
  #server: Server | undefined;
  #pool: Pool | undefined;
  #isEnded = false;

  constructor(servers: Servers, bounds: PoolLimits) {
    this.#servers = servers;
    this.#bounds = bounds;
  }

  /** Runs a statement on some connection. @throws StoreUnavailable when there is no server, or after the end; else what the driver throws */
  async query<Row extends QueryResultRow>(
    query: string | QueryConfig,
    values?: unknown[],
  ): Promise<QueryResult<Row>> {
    const [server, pool] = await this.#current();
    try {
      return await pool.query<Row>(query, values);
    } catch (error) {
      this.#onError(error, server);
      throw error;
    }
  }

  /**
   * Lends a connection out to several statements; one that failed is closed.
   *
   * @throws as {@link query} does, and what `run` throws
   */
  async withConnection<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const [server, pool] = await this.#current();
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      // A connection that is lent out has no listener but ours; its loss shows in its query, too.
      client.on('error', ignoreLoss);
      const result = await run(client);
      client.off('error', ignoreLoss).release();
      return result;
    } catch (error) {
      client?.release(true);
      this.#onError(error, server);
      throw error;
    }
  }

  /** How many connections there are at present, and how many callers wait for one. */
  get state(): PoolState {
    const { idleCount = 0, totalCount = 0, waitingCount = 0 } = this.#pool ?? {};
    return { idle: idleCount, used: totalCount - idleCount, waiting: waitingCount };
  }

  /** Waits for the statements under way, and closes all connections. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#pool?.end();
  }

  async #current(): Promise<readonly [Server, Pool]> {
    const server = await this.#servers.current();
    if (this.#isEnded) throw new StoreUnavailable('closed');
    if (this.#server === server && this.#pool) return [server, this.#pool];
    // What is under way there comes to its end.
    void this.#pool?.end();
    this.#server = server;
    this.#pool = createPool(this.#servers, server, this.#bounds);
    return [server, this.#pool];
  }

  /**
   * Whether a statement that failed is worth another attempt: nothing of it has happened, and it may meet no others
   * the next time, or another server, or the same behind another connection.
   */
  isRetryable(error: unknown): boolean {
    if (isSerializationFailure(error)) return true;
    if (isReadOnly(error)) return WRITABLE.has(this.#servers.attributes);
    return this.#servers.hasSeveral && (isConnectionRefused(error) || error instanceof UnsuitableServer);
  }

  /** A server that is away, or does not do what was asked for, may no longer be the right one. */
  #onError(error: unknown, server: Server): void {
    if (isReadOnly(error) && this.#servers.attributes === 'read-write') this.#servers.evict(server);
    else if (isConnectionLost(error) || error instanceof UnsuitableServer) this.#servers.recheck(server);
  }
}

function createPool(
  servers: Servers,
  server: Server,
  { connectionsMax, statementTimeoutMs }: PoolLimits,
): Pool {
  const { attributes } = servers;
  const pool = new Pool({
    ...server.config,
    max: connectionsMax,
    query_timeout: statementTimeoutMs + GRACE_MS,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, though its type says void
    onConnect: async (client) => {
      await configure(client, statementTimeoutMs);
      await expectSuitable(client, attributes, statementTimeoutMs);
      if (attributes !== 'any') watch(client as PoolClient, () => servers.evict(server));
    },
  });
  // An idle connection that drops is replaced at the next call; without a listener it would end the process.
  pool.on('error', ignoreLoss);
  return pool;
}

function ignoreLoss(): void {}
