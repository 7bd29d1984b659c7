import { globSync } from 'node:fs';
import { missingPrograms } from '../program.ts';

/** The folder of the newest PostgreSQL that Debian has installed. */
const POSTGRES_FOLDER =
  globSync('/usr/lib/postgresql/*/bin')
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .at(-1) ?? '/usr/lib/postgresql';

/** @returns the folder of PostgreSQL's programs; @throws Error that names what is missing on this machine */
export async function findPrograms(): Promise<string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error('this campaign runs on Linux, as root');
  const missing = [
    ...(await missingPrograms(['patroni', 'patronictl', 'etcd', 'haproxy', 'setpriv'])),
    ...(await missingPrograms(
      ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_rewind', 'pg_controldata'],
      [POSTGRES_FOLDER],
    )),
  ];
  if (missing.length > 0) {
    const packages = "Debian's packages are patroni, etcd-server, haproxy and postgresql";
    throw new Error(`this campaign needs ${missing.join(', ')}, not installed here (${packages})`);
  }
  return POSTGRES_FOLDER;
}
