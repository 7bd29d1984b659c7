import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { BOOKS } from './books.ts';

/** The version of pgbench, or undefined if it is not installed. */
export function findPgbench(): string | undefined {
  const { stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  return /^pgbench \(PostgreSQL\) \S+/.exec(stdout ?? '')?.[0];
}

const SET_ID = `\\set id random(1, ${BOOKS})`;

/** What the service does for GET one and PUT, each as a transaction of one row. */
const SCRIPTS = {
  get: `${SET_ID}
select id, title, author, year from books where id = :id;
`,
  put: `${SET_ID}
\\set year random(1, 2025)
update books set title = 'The Golden River', author = 'Anna Lindqvist', year = :year where id = :id
  returning id, title, author, year;
`,
};

export type PgbenchWorkload = keyof typeof SCRIPTS;

/** Runs prepared statements on books with random ids. @returns transactions/s, or undefined if pgbench is not installed */
export async function runPgbench(
  workload: PgbenchWorkload,
  databaseUrl: string,
  clients: number,
  seconds: number,
): Promise<number | undefined> {
  if (findPgbench() === undefined) return undefined;
  const options = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '2', '-T', `${seconds}`, '-f', '-'];
  const pgbench = promisify(execFile)('pgbench', [...options, databaseUrl]);
  pgbench.child.stdin?.end(SCRIPTS[workload]);
  const { stdout } = await pgbench;
  const rate = /^tps = ([0-9.]+)/m.exec(stdout)?.[1];
  if (rate === undefined) throw new Error('pgbench printed no rate');
  return Number(rate);
}
