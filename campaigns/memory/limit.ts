import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the memory controller is mounted, with version 2 and version 1 of cgroups, and the file that holds a limit. */
const CONTROLLERS = [
  { root: '/sys/fs/cgroup', mark: 'cgroup.controllers', limit: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', mark: 'memory.limit_in_bytes', limit: 'memory.limit_in_bytes' },
];

/**
 * Has the kernel limit the memory of a process, and of those that it starts. Of a process that has just been spawned,
 * this is early enough for Node to choose its heap by the limit.
 *
 * @returns what removes the limit when the process has ended; null where the system allows no limit
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
