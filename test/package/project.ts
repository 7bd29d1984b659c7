import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createFolder } from '../../testkit/folder.ts';
import { ROOT } from '../project/files.ts';

const run = promisify(execFile);

export interface Ending {
  readonly code: number;
  readonly output: string;
}

/** An empty project with our packages, as `npm pack` makes them. Disposing deletes it. */
export class Project implements AsyncDisposable {
  readonly path: string;
  readonly #folder: AsyncDisposable;

  private constructor(folder: AsyncDisposable & { readonly path: string }) {
    this.path = folder.path;
    this.#folder = folder;
  }

  /** Packs the service and the client, and unpacks them like `npm install`, without dependencies. */
  static async create(): Promise<Project> {
    const folder = await createFolder();
    const modules = join(folder.path, 'node_modules');
    await mkdir(modules);
    for (const [name, path] of [
      ['bookkeeping', ROOT],
      ['bookkeeping-client', join(ROOT, 'client')],
    ] as const) {
      const pack = ['pack', '--silent', '--pack-destination', folder.path];
      const { stdout } = await run('npm', pack, { cwd: path });
      await run('tar', ['-xzf', join(folder.path, stdout.trim()), '-C', modules]);
      await rename(join(modules, 'package'), join(modules, name));
    }
    const project = new Project(folder);
    await project.write('package.json', '{"type":"module"}');
    return project;
  }

  /** The files of the service, by their paths within its package. */
  async listFiles(): Promise<string[]> {
    const root = join(this.path, 'node_modules/bookkeeping');
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).toSorted();
  }

  async write(path: string, text: string): Promise<void> {
    await writeFile(join(this.path, path), text);
  }

  /** Runs `node` in the project. */
  async node(...args: readonly string[]): Promise<Ending> {
    try {
      const { stdout } = await run(process.execPath, args, { cwd: this.path, env: {} });
      return { code: 0, output: stdout };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, output: stdout + stderr };
    }
  }

  /** Runs the TypeScript compiler in the project. */
  compile(...args: readonly string[]): Promise<Ending> {
    return this.node(join(ROOT, 'node_modules/typescript/bin/tsc'), ...args);
  }

  /** Links a package of our node_modules. */
  async link(name: string): Promise<void> {
    const place = join(this.path, 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), place);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}
