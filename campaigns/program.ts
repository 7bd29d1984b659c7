import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chown, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Janitor, startJanitor } from '../testkit/cluster-janitor.ts';
import { run } from '../testkit/run-program.ts';

/** The user of the programs if this process is root: PostgreSQL and PgBouncer do not run as root. */
const USER = 'postgres';

const isRoot = process.getuid?.() === 0;

/** A temporary folder of {@link USER}. A janitor deletes it, and ends a PostgreSQL server with its data there. */
export async function createProgramFolder(): Promise<{ folder: string; janitor: Janitor }> {
  const folder = await mkdtemp(join(tmpdir(), 'bookkeeping-program-'));
  const janitor = startJanitor(folder);
  if (isRoot) {
    const [uid, gid] = await Promise.all([run('id', '-u', USER), run('id', '-g', USER)]);
    await chown(folder, Number(uid), Number(gid));
  }
  return { folder, janitor };
}

/** A program that ends with this process at the latest. Its output is in a file. Needs Linux. */
export class Program {
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #log: string;

  /** Starts it as {@link USER}, with the folder as its working directory. */
  constructor(folder: string, program: string, flags: readonly string[]) {
    this.#log = join(folder, `${program}.log`);
    const log = openSync(this.#log, 'a');
    const user = isRoot ? [`--reuid=${USER}`, `--regid=${USER}`, '--init-groups'] : [];
    this.#process = spawn('setpriv', [...user, '--pdeathsig=KILL', program, ...flags], {
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: folder },
      stdio: ['ignore', log, log],
      detached: true, // An interrupt at the terminal does not stop it before the campaign ends it.
    });
    closeSync(log);
    this.#closed = once(this.#process, 'close');
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Sends a signal, and resolves when the program has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.isRunning) this.#process.kill(signal);
    await this.#closed;
  }

  /** The last lines of its output. */
  async tail(): Promise<string> {
    return (await readFile(this.#log, 'utf8')).split('\n').slice(-20).join('\n');
  }
}
