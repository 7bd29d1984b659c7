import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import { StoreUnavailable } from '../../../book/book-store-interface.ts';
import { StoreNotReady } from '../../store-errors.ts';
import { NO_PASSWORD, NO_TLS, reasonOf, sqlState } from '../errors.ts';
import { connect } from './client-connection.ts';
import type { Conninfo, Host, SessionAttributes } from './conninfo.ts';

/** After this the next host is tried as well (RFC 8305, section 8, has it for the addresses of one host). */
const HEAD_START_MS = 250;

/** When no server was found, nobody looks again for so long. */
const PAUSE_MS = 100;

/** A server that suits, and the settings of connections to it. */
export interface Server {
  readonly host: Host;
  readonly config: ClientConfig;
}

/**
 * The hosts of a connection string, and the server in use: all connections lead to one and the same, so that every call
 * sees what was written before. Who has reason to doubt that it still suits has it looked for again.
 */
export class Servers {
  readonly #conninfo: Conninfo;
  #known: Server;
  #needsRecheck = false;
  #search: Promise<Server> | undefined;

  private constructor(conninfo: Conninfo, known: Server) {
    this.#conninfo = conninfo;
    this.#known = known;
  }

  /**
   * Looks for the first server, and leaves the connection to it open, over which the database can be prepared.
   *
   * @throws StoreNotReady when no host has a server that suits and takes us
   */
  static async find(conninfo: Conninfo): Promise<{ servers: Servers; client: Client }> {
    try {
      const { client, ...server } = await search(conninfo);
      return { servers: new Servers(conninfo, server), client };
    } catch (error) {
      if (!(error instanceof NoServer)) throw error;
      const fault = error.failures
        .map(([, reason]) => reason)
        .find((reason) => reason instanceof StoreNotReady);
      if (fault) throw fault;
      const complaints = error.failures.map(
        ([host, reason]) => `${describe(host, conninfo)} ${explain(reason)}`,
      );
      throw new StoreNotReady(`PostgreSQL ${complaints.join('; ')}`);
    }
  }

  /** What a server has to be like. */
  get attributes(): SessionAttributes {
    return this.#conninfo.sessionAttributes;
  }

  /** The server to use. @throws StoreUnavailable when there is none at present */
  async current(): Promise<Server> {
    if (!this.#needsRecheck) return this.#known;
    this.#search ??= this.#searchAgain();
    return this.#search;
  }

  /** Whether there is more than one host, so that another server may be found. */
  get hasSeveral(): boolean {
    return this.#conninfo.hosts.length > 1;
  }

  /** Has the server looked for again before it is used the next time. It may turn out to be the same. */
  recheck(server: Server): void {
    if (server === this.#known) this.#needsRecheck = this.hasSeveral;
  }

  /** Like {@link recheck}, and connections that there are to the server are not used any more. */
  evict(server: Server): void {
    if (server !== this.#known) return;
    this.#known = { ...server };
    this.recheck(this.#known);
  }

  async #searchAgain(): Promise<Server> {
    try {
      const { client, ...found } = await search(this.#conninfo, this.#known.host);
      void client.end();
      if (found.host !== this.#known.host) this.#known = found;
      this.#needsRecheck = false;
      this.#search = undefined;
      return this.#known;
    } catch (error) {
      setTimeout(() => {
        this.#search = undefined;
      }, PAUSE_MS).unref();
      if (!(error instanceof NoServer)) throw error;
      throw new StoreUnavailable(error.failures.map(([, reason]) => shortReason(reason)).join(' and '));
    }
  }
}

interface Found extends Server {
  readonly client: Client;
}

/**
 * Looks for a server among all hosts.
 *
 * @param last the one that was used last comes first: a primary that lost its place may still think it has it
 * @throws NoServer
 */
async function search(conninfo: Conninfo, last?: Host): Promise<Found> {
  const { hosts, isBalanced, sessionAttributes } = conninfo;
  const order = (isBalanced ? shuffle(hosts) : [...hosts]).toSorted(
    (one, other) => Number(other === last) - Number(one === last),
  );
  if (sessionAttributes !== 'prefer-standby') return searchFor(sessionAttributes, order, conninfo);
  return searchFor('standby', order, conninfo).catch(() => searchFor('any', order, conninfo));
}

/** Tries hosts in their order: the next one when those before have failed, or take long. The first that suits wins. */
async function searchFor(
  attributes: SessionAttributes,
  hosts: readonly Host[],
  conninfo: Conninfo,
): Promise<Found> {
  const attempts: Promise<Found>[] = [];
  const winner = () => Promise.any(attempts);
  for (const host of hosts) {
    attempts.push(connect(conninfo, host, attributes).then((connected) => ({ host, ...connected })));
    const isFound = winner().then(
      () => true,
      () => false,
    );
    if (await Promise.race([isFound, sleep(HEAD_START_MS, false)])) break;
  }
  try {
    const found = await winner();
    for (const attempt of attempts) void endUnless(found, attempt);
    return found;
  } catch (error) {
    const failures = error instanceof AggregateError ? error.errors : [error];
    throw new NoServer(hosts.map((host, index) => [host, failures[index]]));
  }
}

async function endUnless(found: Found, attempt: Promise<Found>): Promise<void> {
  const other = await attempt.catch(() => found);
  if (other !== found) await other.client.end();
}

/** A search has failed: why, by host. */
class NoServer extends Error {
  readonly failures: readonly (readonly [Host, unknown])[];

  constructor(failures: NoServer['failures']) {
    super('no server suits');
    this.failures = failures;
  }
}

function shuffle(hosts: readonly Host[]): Host[] {
  return hosts
    .map((host) => ({ host, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ host }) => host);
}

function describe({ name, address = name, port }: Host, { dbname }: Conninfo): string {
  return `(host ${address ?? 'by default'}, port ${port ?? 'by default'}, database ${dbname ?? 'by default'})`;
}

function shortReason(error: unknown): string {
  return error instanceof StoreUnavailable ? error.reason : reasonOf(error);
}

function explain(error: unknown): string {
  const reason = shortReason(error);
  if (error instanceof StoreUnavailable) return `does not suit (${reason})`;
  switch (sqlState(error)) {
    case undefined:
      return explainWithoutState(reason);
    case '28P01':
    case '28000':
      return `refuses this user or password (${reason})`;
    case '3D000':
      return `has no such database (${reason})`;
    default:
      return `refuses the connection (${reason})`;
  }
}

function explainWithoutState(reason: string): string {
  if (reason === NO_TLS) return 'offers no TLS, which sslmode demands';
  if (reason === NO_PASSWORD) return 'demands a password';
  if (/CERT|LEAF_SIGNATURE/.test(reason)) return `has a certificate that is not accepted (${reason})`;
  if (reason.startsWith('ERR_OSSL'))
    return `cannot be asked, as sslcert or sslkey cannot be used (${reason})`;
  return `cannot be reached (${reason})`;
}
