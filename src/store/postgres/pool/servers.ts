import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { NO_PASSWORD, NO_TLS, reasonOf, sqlState } from '../errors.ts';
import { connect } from './client-connection.ts';
import type { Conninfo, Host, SessionAttributes } from './conninfo.ts';

/** The time after which the next host is tried as well (RFC 8305, section 8, for the addresses of one host). */
const HEAD_START_MS = 250;

const PAUSE_MS = 100;

/** A suitable server, and the settings of connections to it. */
export interface Server {
  readonly host: Host;
  readonly config: ClientConfig;
}

/**
 * The hosts of a connection string, and the server in use: all connections lead to the same server, so that each call
 * sees earlier writes. After {@link recheck} or {@link evict}, the next call searches for a server again.
 */
export class Servers {
  /** When a connection was lost. Those that were idle at that time are probably lost, too. */
  lostMs = 0;
  /** Called with the host and port when another server is used. */
  onMove: ((server: string) => void) | undefined;
  readonly #conninfo: Conninfo;
  #current: Server;
  #needsRecheck = false;
  #pendingLookup: Promise<Server> | undefined;

  private constructor(conninfo: Conninfo, current: Server) {
    this.#conninfo = conninfo;
    this.#current = current;
  }

  /** @throws StoreNotReady when no host has a suitable server that accepts the connection, or `prepare` fails */
  static async connect(
    conninfo: Conninfo,
    prepare: (client: Client) => Promise<void>,
  ): Promise<{ servers: Servers; client: Client }> {
    const { client, ...server } = await findServer(conninfo).catch((error: unknown) => {
      throw error instanceof NoServer ? error.toStoreNotReady(conninfo) : error;
    });
    try {
      await prepare(client);
      return { servers: new Servers(conninfo, server), client };
    } catch (error) {
      await client.end();
      if (error instanceof StoreNotReady) throw error;
      throw new StoreNotReady(`the table books cannot be used (${reasonOf(error)})`);
    }
  }

  get attributes(): SessionAttributes {
    return this.#conninfo.sessionAttributes;
  }

  /** The server in use. @throws StoreUnavailable when there is none */
  async current(): Promise<Server> {
    if (!this.#needsRecheck) return this.#current;
    this.#pendingLookup ??= this.#findAgain();
    return this.#pendingLookup;
  }

  get hasSeveral(): boolean {
    return this.#conninfo.hosts.length > 1;
  }

  /** Searches for a server again before the next use; it may be the same. */
  recheck(server: Server): void {
    if (server === this.#current) this.#needsRecheck = this.hasSeveral;
  }

  /** Like {@link recheck}, and existing connections to the server are no longer used. */
  evict(server: Server): void {
    if (server !== this.#current) return;
    this.#current = { ...server };
    this.recheck(this.#current);
  }

  async #findAgain(): Promise<Server> {
    try {
      const { client, ...found } = await findServer(this.#conninfo, this.#current.host);
      void client.end();
      const hasMoved = found.host !== this.#current.host;
      if (hasMoved) this.#current = found;
      this.#needsRecheck = false;
      this.#pendingLookup = undefined;
      if (hasMoved) this.onMove?.(`${client.host}:${client.port}`);
      return this.#current;
    } catch (error) {
      setTimeout(() => {
        this.#pendingLookup = undefined;
      }, PAUSE_MS).unref();
      throw error instanceof NoServer ? error.toStoreUnavailable() : error;
    }
  }
}

interface Found extends Server {
  readonly client: Client;
  readonly timeline: number;
}

/** Tries the `last` host first, so that of equal servers the one in use stays. @throws NoServer */
async function findServer(conninfo: Conninfo, last?: Host): Promise<Found> {
  const { hosts, isBalanced, sessionAttributes } = conninfo;
  const order = hosts
    .map((host) => ({ host, rank: host === last ? -1 : isBalanced ? Math.random() : 0 }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ host }) => host);
  if (sessionAttributes !== 'prefer-standby') return findServerWith(sessionAttributes, order, conninfo);
  return findServerWith('standby', order, conninfo).catch(() => findServerWith('any', order, conninfo));
}

/**
 * Tries hosts in order, the next one when those before have failed or take long. The first suitable server wins; but of
 * several primaries, the one that was promoted last, since a manager that dies leaves the former one running.
 */
async function findServerWith(
  attributes: SessionAttributes,
  hosts: readonly Host[],
  conninfo: Conninfo,
): Promise<Found> {
  const mustBePrimary = attributes === 'read-write' || attributes === 'primary';
  const attempts: Promise<Found>[] = [];
  for (const host of hosts) {
    attempts.push(connect(conninfo, host, attributes).then((connected) => ({ host, ...connected })));
    if (mustBePrimary) continue;
    const isFound = Promise.any(attempts).then(
      () => true,
      () => false,
    );
    if (await Promise.race([isFound, sleep(HEAD_START_MS, false)])) break;
  }
  try {
    const first = await Promise.any(attempts);
    const found = mustBePrimary ? await latestPrimary(attempts) : first;
    for (const attempt of attempts) void endUnless(found, attempt);
    return found;
  } catch (error) {
    const failures = (error as AggregateError).errors;
    throw new NoServer(hosts.map((host, index) => ({ host, cause: failures[index] })));
  }
}

/** The one of the highest timeline, among those that connect soon after the first. */
async function latestPrimary(attempts: readonly Promise<Found>[]): Promise<Found> {
  const isOver = sleep(HEAD_START_MS, undefined, { ref: false });
  const primaries = await Promise.all(
    attempts.map((attempt) => Promise.race([attempt.catch(() => undefined), isOver])),
  );
  return primaries
    .filter((primary) => primary !== undefined)
    .reduce((latest, primary) => (primary.timeline > latest.timeline ? primary : latest));
}

async function endUnless(found: Found, attempt: Promise<Found>): Promise<void> {
  const other = await attempt.catch(() => found);
  if (other !== found) await other.client.end();
}

class NoServer extends Error {
  readonly #failures: readonly { readonly host: Host; readonly cause: unknown }[];

  constructor(failures: readonly { readonly host: Host; readonly cause: unknown }[]) {
    super('no server suits');
    this.#failures = failures;
  }

  toStoreUnavailable(): StoreUnavailable {
    return new StoreUnavailable(this.#failures.map(({ cause }) => shortReason(cause)).join(' and '));
  }

  toStoreNotReady({ dbname = 'by default' }: Conninfo): StoreNotReady {
    const causes = this.#failures.map(({ cause }) => cause);
    const misconfiguration = causes.find((cause) => cause instanceof StoreNotReady);
    if (misconfiguration) return misconfiguration;
    const explanations = this.#failures.map(
      ({ host: { name, address = name ?? 'by default', port = 'by default' }, cause }) =>
        `(host ${address}, port ${port}, database ${dbname}) ${explain(cause)}`,
    );
    return new StoreNotReady(`PostgreSQL ${explanations.join('; ')}`);
  }
}

function shortReason(error: unknown): string {
  return error instanceof StoreUnavailable ? error.reason : reasonOf(error);
}

function explain(error: unknown): string {
  const reason = shortReason(error);
  if (error instanceof StoreUnavailable) return `does not suit (${reason})`;
  if (reason === NO_TLS) return 'offers no TLS, which sslmode demands';
  if (reason === NO_PASSWORD) return 'demands a password';
  const other = sqlState(error) === undefined ? 'cannot be reached' : 'refuses the connection';
  return `${EXPLANATIONS.find(([reasons]) => reasons.test(reason))?.[1] ?? other} (${reason})`;
}

const EXPLANATIONS: readonly (readonly [reasons: RegExp, explanation: string])[] = [
  [/^(28P01|28000)$/, 'refuses this user or password'],
  [/^3D000$/, 'has no such database'],
  [/CERT|LEAF_SIGNATURE/, 'has a certificate that is not accepted'],
  [/^ERR_OSSL/, 'cannot be reached, as sslcert or sslkey cannot be used'],
];
