import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the memory controller of cgroups v2 and v1 is mounted, and the file with the limit. */
const CONTROLLERS = [
  { root: '/sys/fs/cgroup', mark: 'cgroup.controllers', limit: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', mark: 'memory.limit_in_bytes', limit: 'memory.limit_in_bytes' },
];

/**
 * Has the kernel limit the memory of a process and its children. Call it right after the process is spawned, so that Node
 * chooses its heap size by the limit.
 *
 * @returns removes the limit, once the process has ended; null if the system allows no limit
 */
export function limitMemory(pid: number, bytes: number): Disposable | null {
  for (const { root, mark, limit } of CONTROLLERS) {
    if (!existsSync(join(root, mark))) continue;
    const group = join(root, `bookkeeping-${pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(group, limit), `${bytes}`);
      writeFileSync(join(group, 'cgroup.procs'), `${pid}`);
      return { [Symbol.dispose]: () => rmdirSync(group) };
    } catch {
      rmdirSync(group);
    }
  }
  return null;
}
