import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { BOOKS } from './books.ts';

/** The version of pgbench, or undefined if it is not installed. */
export function findPgbench(): string | undefined {
  const { stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  return /^pgbench \(PostgreSQL\) \S+/.exec(stdout ?? '')?.[0];
}

const SCRIPT = `
\\set id random(1, ${BOOKS})
select id, title, author, year from books where id = :id;
`;

/** Runs selects by id with prepared statements. @returns transactions/s, or undefined if pgbench is not installed */
export async function selectByPgbench(
  databaseUrl: string,
  clients: number,
  seconds: number,
): Promise<number | undefined> {
  if (findPgbench() === undefined) return undefined;
  const options = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '2', '-T', `${seconds}`, '-f', '-'];
  const pgbench = promisify(execFile)('pgbench', [...options, databaseUrl]);
  pgbench.child.stdin?.end(SCRIPT);
  const { stdout } = await pgbench;
  const rate = /^tps = ([0-9.]+)/m.exec(stdout)?.[1];
  if (rate === undefined) throw new Error('pgbench printed no rate');
  return Number(rate);
}
