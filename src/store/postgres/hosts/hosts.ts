import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientBase, ClientConfig } from 'pg';
import { StoreNotReady } from '../../errors.ts';
import { isConnectionLost, isConnectionRefused, isReadOnly, reasonOf } from '../errors.ts';
import { closeInTime, connect } from './connect.ts';
import type { Conninfo, Host } from './conninfo.ts';
import { NoServer } from './no-server.ts';
import { expectSuitable, UnsuitableServer, watch } from './session-attributes.ts';

/** The time after the first connection in which others are considered (as RFC 8305, section 8, for the addresses of one host). */
const LATE_MS = 250;
/** The pause after a search that found no server. */
const PAUSE_MS = 100;

/** A suitable server, and the settings of connections to it. */
export interface Server {
  readonly host: Host;
  readonly config: ClientConfig;
}

/**
 * The hosts of a connection string, and the server in use: all connections lead to the same server, so that each call sees
 * earlier writes. After an error that another server may not have, the next call searches for a server again.
 */
export class Hosts {
  readonly #conninfo: Conninfo;
  readonly #onMove: (server: string) => void;
  #current: Server;
  #lostMs = 0;
  #needsSearch = false;
  #pendingSearch: Promise<Server> | undefined;

  private constructor(conninfo: Conninfo, current: Server, onMove: (server: string) => void) {
    this.#conninfo = conninfo;
    this.#current = current;
    this.#onMove = onMove;
  }

  /**
   * @param onMove called with the host and port when another server is used
   * @throws StoreNotReady when no host has a suitable server that accepts the connection, or `prepare` fails
   */
  static async connect(
    conninfo: Conninfo,
    prepare: (client: Client) => Promise<void> = async () => {},
    onMove: (server: string) => void = () => {},
  ): Promise<{ hosts: Hosts; client: Client }> {
    const { client, host, config } = await findServer(conninfo).catch((error: unknown) => {
      throw error instanceof NoServer ? error.toStoreNotReady(conninfo) : error;
    });
    try {
      await prepare(client);
      return { hosts: new Hosts(conninfo, { host, config }, onMove), client };
    } catch (error) {
      await client.end();
      if (error instanceof StoreNotReady) throw error;
      throw new StoreNotReady(`the table books cannot be used (${reasonOf(error)})`);
    }
  }

  /** The server in use; another object when existing connections must not be used any more. @throws StoreUnavailable */
  async current(): Promise<Server> {
    if (!this.#needsSearch) return this.#current;
    this.#pendingSearch ??= this.#search();
    return this.#pendingSearch;
  }

  /** Checks a new connection to a server, and watches it. @throws UnsuitableServer, or what the driver throws */
  async onConnect(client: ClientBase, server: Server): Promise<void> {
    closeInTime(client);
    await expectSuitable(client, this.#conninfo);
    if (this.#conninfo.sessionAttributes !== 'any') watch(client, () => this.#evict(server));
  }

  onError(error: unknown, server: Server): void {
    if (isConnectionLost(error)) this.#lostMs = performance.now();
    else if (!isReadOnly(error) && !(error instanceof UnsuitableServer)) return;
    if (server !== this.#current) return;
    if (isReadOnly(error)) this.#evict(server);
    this.#needsSearch = this.#hasSeveral;
  }

  /** Whether a statement that failed had no effect, and may succeed on another connection. */
  isRetryable(error: unknown): boolean {
    if (isReadOnly(error)) return true;
    return this.#hasSeveral && (isConnectionRefused(error) || error instanceof UnsuitableServer);
  }

  /**
   * Whether a connection that has been idle since then is probably lost, too: when one is lost at second 5, those that are idle
   * since second 3 are not used again, and those that were in use until second 6 are.
   */
  isProbablyLost(idleSinceMs: number): boolean {
    return idleSinceMs < this.#lostMs;
  }

  get #hasSeveral(): boolean {
    return this.#conninfo.hosts.length > 1;
  }

  /** Makes all pools replace their connections to this server, unless it may be read-only. */
  #evict(server: Server): void {
    if (server !== this.#current || this.#conninfo.sessionAttributes === 'any') return;
    this.#current = { ...server };
    this.#needsSearch = this.#hasSeveral;
  }

  async #search(): Promise<Server> {
    try {
      const { client, host, config } = await findServer(this.#conninfo, this.#current.host);
      void client.end();
      this.#needsSearch = false;
      this.#pendingSearch = undefined;
      if (host !== this.#current.host) {
        this.#current = { host, config };
        this.#onMove(`${client.host}:${client.port}`);
      }
      return this.#current;
    } catch (error) {
      setTimeout(() => {
        this.#pendingSearch = undefined;
      }, PAUSE_MS).unref();
      throw error instanceof NoServer ? error.toStoreUnavailable() : error;
    }
  }
}

interface Found extends Server {
  readonly client: Client;
  readonly timeline: number;
}

/**
 * Tries all hosts at once. Of several suitable servers, the one that was promoted last is used, since a failover manager that
 * dies leaves the former primary running: of a server on timeline 3 and one on timeline 4, the latter. Of equal ones, the
 * `last` one, else the first in the list.
 *
 * @throws NoServer
 */
async function findServer(conninfo: Conninfo, last?: Host): Promise<Found> {
  const hosts = conninfo.hosts.toSorted((one, other) => Number(other === last) - Number(one === last));
  const attempts = hosts.map(async (host): Promise<Found> => ({ host, ...(await connect(conninfo, host)) }));
  try {
    await Promise.any(attempts);
  } catch (error) {
    const causes = (error as AggregateError).errors;
    throw new NoServer(hosts.map((host, index) => ({ host, cause: causes[index] })));
  }
  const isLate = sleep(LATE_MS, undefined, { ref: false });
  const inTime = attempts.map((attempt) => Promise.race([attempt.catch(() => undefined), isLate]));
  const found = (await Promise.all(inTime))
    .filter((server) => server !== undefined)
    .reduce((latest, server) => (server.timeline > latest.timeline ? server : latest));
  for (const attempt of attempts) void endUnless(found, attempt);
  return found;
}

async function endUnless(found: Found, attempt: Promise<Found>): Promise<void> {
  const other = await attempt.catch(() => found);
  if (other !== found) await other.client.end();
}
