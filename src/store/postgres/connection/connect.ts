import type { Duplex } from 'node:stream';
import { Client, type ClientBase, type ClientConfig, types } from 'pg';
import { StoreNotReady } from '../../errors.ts';
import { means, sqlState } from '../error-codes.ts';
import { explainStartFailure, isConnectionBroken, isReadOnly, NO_TLS, reasonOf } from '../errors.ts';
import type { Conninfo } from './conninfo.ts';
import { applySettings, StandbyServer } from './session-settings.ts';
import { explainFailure } from './start-failure.ts';
import { tlsModes } from './tls-modes.ts';

/** The time for the server to close a connection after its last message; an unreachable one never does. */
const CLOSE_MS = 1_000;
/** After this time, the kernel asks whether the server is still there, then ten times, once a second: it notices a lost one after 20 s. */
const KEEP_ALIVE_MS = 10_000;
/** Preparing may scan all rows of a large adopted table. */
const PREPARE_TIMEOUT_MS = 300_000;

/** The server at the address of a connection string, and what all pools of a process know about their connections to it. */
export class PostgresServer {
  readonly config: ClientConfig;
  #failedMs = 0;

  constructor(config: ClientConfig) {
    this.config = config;
  }

  /** Prepares a new connection. @throws StandbyServer, or what the driver throws */
  async onConnect(client: ClientBase, statementTimeoutMs: number): Promise<void> {
    // The pool does not listen to a connection that is in use or closing; an error of it also rejects its query.
    client.on('error', () => {});
    closeInTime(client);
    await applySettings(client, statementTimeoutMs);
  }

  onError(error: unknown): void {
    if (isConnectionBroken(error) || isReadOnly(error)) this.#failedMs = performance.now();
  }

  /**
   * Whether a connection that has been idle since then is probably broken, too, or leads to a former primary: when one fails at
   * second 5, those that are idle since second 3 are not used again, and those that were in use until second 6 are.
   */
  isOutdated(idleSinceMs: number): boolean {
    return idleSinceMs < this.#failedMs;
  }
}

/**
 * Connects to the server of a connection string, and prepares its database.
 *
 * @throws StoreNotReady when the server does not accept the connection, is a standby, or `prepare` fails
 */
export async function connect(
  conninfo: Conninfo,
  prepare: (client: Client) => Promise<void> = async () => {},
): Promise<{ server: PostgresServer; client: Client }> {
  const { server, client } = await open(conninfo).catch((error: unknown) => {
    throw error instanceof StoreNotReady ? error : new StoreNotReady(explainFailure(conninfo, error));
  });
  try {
    await prepare(client);
    return { server, client };
  } catch (error) {
    await client.end();
    if (error instanceof StoreNotReady) throw error;
    throw new StoreNotReady(`the table books cannot be used (${explainStartFailure(error)})`);
  }
}

/** Finds the mode of TLS, which all later connections of the process have. */
async function open(conninfo: Conninfo): Promise<{ server: PostgresServer; client: Client }> {
  let failure: unknown;
  for (const ssl of tlsModes(conninfo)) {
    const config = { ...clientConfig(conninfo), ssl };
    const client = new Client({ ...config, query_timeout: PREPARE_TIMEOUT_MS });
    const server = new PostgresServer(config);
    client.on('error', () => {});
    try {
      await client.connect();
      await server.onConnect(client, PREPARE_TIMEOUT_MS);
      return { server, client };
    } catch (error) {
      // With `sslmode=allow`, the server may reject the user without TLS, and then have no TLS: the first failure is the cause.
      if (failure === undefined || reasonOf(error) !== NO_TLS) failure = error;
      await client.end();
    }
    if (!mayRequireOtherMode(failure)) break;
  }
  throw failure;
}

/**
 * With `sslmode=prefer`, a connection that is reset during the TLS handshake must not lead to one without TLS: all later
 * connections of the process would be like it. The modes are changed when the server has no TLS, or rejects this mode.
 */
function mayRequireOtherMode(failure: unknown): boolean {
  if (failure instanceof StandbyServer) return false;
  if (sqlState(failure) === undefined) return !NETWORK_FAILURE.test(reasonOf(failure));
  return means(failure, 'user or mode of TLS rejected');
}

const NETWORK_FAILURE = /^(timeout|ECONN|EHOST|ENET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|ENOENT)/;

function clientConfig(conninfo: Conninfo): ClientConfig {
  const { host, hostaddr = host, port, user, password, dbname, options } = conninfo;
  return {
    ...(hostaddr !== undefined && { host: hostaddr }),
    ...(port !== undefined && { port }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(dbname !== undefined && { database: dbname }),
    ...(options !== undefined && { options }),
    application_name: conninfo.applicationName,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: conninfo.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Ids and years are within the numbers that JavaScript has exactly; the driver would make texts of them.
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
    },
  };
}

/** Closes a socket some time after its last message was sent, also if the server does not. */
function closeInTime(client: ClientBase): void {
  // All clients of the driver have it, but not all of their types.
  const { stream } = (client as ClientBase & { readonly connection: { readonly stream: Duplex } }).connection;
  stream.once('finish', () => {
    const timer = setTimeout(() => stream.destroy(), CLOSE_MS).unref();
    stream.once('close', () => clearTimeout(timer));
  });
}
