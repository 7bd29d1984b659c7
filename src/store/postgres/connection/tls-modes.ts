import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { StoreNotReady } from '../../errors.ts';
import { reasonOf } from '../errors.ts';
import type { Conninfo } from './conninfo.ts';

/** The settings to try in order, as libpq does for each `sslmode`. */
export function tlsModes(conninfo: Conninfo): (ConnectionOptions | false)[] {
  const { host, hostaddr, sslmode, sslrootcert, sslcert, sslkey } = conninfo;
  if (sslmode === 'disable' || (hostaddr ?? host)?.startsWith('/')) return [false];
  const isVerified = sslmode === 'verify-ca' || sslmode === 'verify-full' || sslrootcert !== undefined;
  const tls: ConnectionOptions = {
    rejectUnauthorized: isVerified,
    // The certificate is for the name, also if an address is given.
    ...(host !== undefined && hostaddr !== undefined && (isIP(host) ? { host } : { servername: host })),
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
