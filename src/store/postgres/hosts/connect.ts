import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientBase, type ClientConfig, types } from 'pg';
import { StoreNotReady } from '../../errors.ts';
import { NO_TLS, reasonOf, sqlState } from '../errors.ts';
import type { Conninfo, Host } from './conninfo.ts';
import { connectionOf, expectSuitable, readTimeline, UnsuitableServer } from './session-attributes.ts';

/** The time for the server to close a connection after its last message; an unreachable one never does. */
const CLOSE_MS = 1_000;
/** The kernel asks after this time whether the server is still there, and then ten times, once a second: so it notices a loss after 20 s. */
const KEEP_ALIVE_MS = 10_000;
/** Preparing may scan all rows of a large adopted table. */
export const PREPARE_TIMEOUT_MS = 300_000;

/** @throws UnsuitableServer when the server does not have the attributes; else what the driver throws */
export async function connect(
  conninfo: Conninfo,
  host: Host,
): Promise<{ client: Client; config: ClientConfig; timeline: number }> {
  let failure: unknown;
  for (const ssl of tlsModes(conninfo, host)) {
    const config = { ...clientConfig(conninfo, host), ssl };
    const client = new Client({ ...config, query_timeout: PREPARE_TIMEOUT_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      closeInTime(client);
      await expectSuitable(client, conninfo);
      const timeline = conninfo.hosts.length > 1 ? await readTimeline(client, conninfo) : 0;
      return { client, config, timeline };
    } catch (error) {
      // With `sslmode=allow`, the server may reject the user without TLS, and then have no TLS: the first failure is the cause.
      if (failure === undefined || reasonOf(error) !== NO_TLS) failure = error;
      await client.end();
    }
    if (failure instanceof UnsuitableServer || !mayRequireOtherMode(failure)) break;
  }
  throw failure;
}

/** Closes a socket some time after its last message was sent, also if the server does not. */
export function closeInTime(client: ClientBase): void {
  const { stream } = connectionOf(client);
  stream.once('finish', () => {
    const timer = setTimeout(() => stream.destroy(), CLOSE_MS).unref();
    stream.once('close', () => clearTimeout(timer));
  });
}

/**
 * With `sslmode=prefer`, a connection that is reset during the TLS handshake must not lead to one without TLS: all later
 * connections of the process would be like it. The modes are changed when the server has no TLS, or rejects this mode.
 */
function mayRequireOtherMode(failure: unknown): boolean {
  const state = sqlState(failure);
  return state === undefined ? !NETWORK_FAILURE.test(reasonOf(failure)) : state === '28000';
}

const NETWORK_FAILURE = /^(timeout|ECONN|EHOST|ENET|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|ENOENT)/;

function clientConfig(conninfo: Conninfo, { name, address = name, port }: Host): ClientConfig {
  const { user, password, dbname, options } = conninfo;
  return {
    ...(address !== undefined && { host: address }),
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
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
    },
  };
}

/** The settings to try in order, as libpq does for each `sslmode`. */
function tlsModes(conninfo: Conninfo, { name, address }: Host): (ConnectionOptions | false)[] {
  const { sslmode, sslrootcert, sslcert, sslkey } = conninfo;
  if (sslmode === 'disable' || (address ?? name)?.startsWith('/')) return [false];
  const isVerified = sslmode === 'verify-ca' || sslmode === 'verify-full' || sslrootcert !== undefined;
  const tls: ConnectionOptions = {
    rejectUnauthorized: isVerified,
    // The certificate is for the name, also if an address is given.
    ...(name !== undefined && address !== undefined && (isIP(name) ? { host: name } : { servername: name })),
    ...(sslrootcert !== undefined && sslrootcert !== 'system' && { ca: read('sslrootcert', sslrootcert) }),
    ...(sslcert !== undefined && { cert: read('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: read('sslkey', sslkey) }),
    ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  if (sslmode === 'allow') return [false, tls];
  if (sslmode === 'prefer') return [tls, false];
  return [tls];
}

function read(keyword: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StoreNotReady(`the file of ${keyword} cannot be read (${reasonOf(error)})`);
  }
}
