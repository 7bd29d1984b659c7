import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from '../testkit/run-program.ts';

/** What a campaign needs of the machine, or of its caller. */
export interface Need {
  readonly name: string;
  /** @param clusterUrl the address of the operator's cluster */
  isMet(clusterUrl: string | undefined): Promise<boolean>;
}

export const LINUX: Need = { name: 'Linux', isMet: async () => process.platform === 'linux' };

export const ROOT: Need = { name: 'root', isMet: async () => process.getuid?.() === 0 };

/** Programs in the folders of PATH. */
export function programs(names: readonly string[]): readonly Need[] {
  return names.map((name) => ({ name, isMet: async () => await isInstalled(name) }));
}

/** What `mount` needs: also root may lack it, as in most containers. */
export const MOUNTS = attempt(
  'the right to mount',
  'unshare --mount mount -t tmpfs tmpfs /mnt && unshare --mount --propagation private true',
);

export const LOOP_DEVICES = attempt('a free loop device', 'losetup --find');

export const NETWORK_NAMESPACES = attempt(
  'the right to add network namespaces and interfaces',
  'unshare --net ip link add here type veth peer name there',
);

/** The right to trace processes. */
export const TRACING = attempt('the right to trace by strace', 'strace -o /dev/null -e trace=none true');

export const CLUSTER: Need = {
  name: 'the address of a Citus cluster (--url)',
  isMet: async (clusterUrl) => clusterUrl !== undefined,
};

/** The names of those that are not met. */
export async function findMissing(needs: readonly Need[] = [], clusterUrl?: string): Promise<string[]> {
  const missing: string[] = [];
  for (const need of needs) if (!(await need.isMet(clusterUrl))) missing.push(need.name);
  return missing;
}

/** @param command of a shell, which fails if the need is not met */
function attempt(name: string, command: string): Need {
  return {
    name,
    isMet: async () =>
      await run('sh', '-c', command).then(
        () => true,
        () => false,
      ),
  };
}

async function isInstalled(name: string): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return await Promise.any(folders.map((folder) => access(join(folder, name), constants.X_OK))).then(
    () => true,
    () => false,
  );
}
